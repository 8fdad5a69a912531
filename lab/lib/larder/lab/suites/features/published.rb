# frozen_string_literal: true

require_relative "../../footprint"
require_relative "../../proxy"

module Larder
  module Lab
    module Suites
      module Features
        # Asks what the published table says. Its methods answer the questions of {BLOCKS}, see {Asking}.
        class Published < Asking
          # Bytes below memcached's megabyte, and how many values of that size show the room that they take.
          TEXT = 900_000
          TEXTS = 10
          # Keys that are written to two servers, and how a store is given several: their URLs, a file for its own.
          SPREAD = 100
          SERVERS = { mem_cache_store: ->(urls, _) { urls }, redis_cache_store: ->(urls, _) { [{ url: urls }] },
                      larder_store: lambda do |urls, file|
                        [file, { remote: [:redis_cache_store, { url: urls.one? ? urls.first : urls }] }]
                      end }.freeze

          private

          def serializes
            value = { "list" => ["a"] }
            keep("mutable", value)
            value["list"] << "b"
            first = store.read("mutable")
            return [false, "changing the object changed what is cached"] unless first == { "list" => ["a"] }

            first["list"] << "c"
            copied = seen?("mutable", { "list" => ["a"] })
            [copied, copied ? "a copy is kept, and a copy is read" : "changing what was read changed what is cached"]
          end

          # In a process of its own, which has not used memory before.
          def compression
            return NOT_OURS if theirs?

            keep("text", "text")
            Bench::Callers.all(1) { compressed }.first
          end

          def local_store
            return [false, "it has no with_local_cache"] unless store.respond_to?(:with_local_cache)

            shared = shared?
            local = store.with_local_cache { shared ? local_copy? : local_value? }
            [local, "the second read in a block #{local ? "did not reach" : "reaches"} the store"]
          end

          def node_local
            [shared?, shared? ? "two processes of this machine share it through #{way}" : "processes share nothing"]
          end

          # As if the server were on another machine.
          def remote
            return [false, "it connects to nothing: its files are on this machine"] unless row.endpoint
            return [true, "at a URL of yours"] if theirs?

            keep("remote", "value")
            proxy = Proxy.new(Proxy.target(row.endpoint), Proxy::Wire.new(rtt: 0), log: "proxy.log").start
            server = Servers.fetch(row.class.server).new(Dir.pwd)
            far = row.endpoint.merge(server.endpoint_at(Proxy::HOST, proxy.address))
            read = elsewhere(row.another("far", endpoint: far)) { |client| client.read("remote") }
            [read == "value", "a client read by host and port"]
          ensure
            proxy&.stop
          end

          def cluster
            return [UNTRIED, "it spreads over databases of database.yml; the lab has one"] if solid?
            return [false, "it has no server"] unless row.endpoint
            return NOT_OURS if theirs?
            return [UNTRIED, "it takes no list of servers"] unless SERVERS.key?(row.recorded[:store])

            hosted("other") { |other, _| spread([row, other].map { |each| each.endpoint["url"] }) }
          end

          def compressed
            @store = another.open.store
            unasked, asked = [room, room(compress: true)]
            small = [unasked, asked].index { |texts, noises| texts < noises / 2 }
            return [nil, "nothing grows by what is stored"] unless small || asked.last > TEXTS * TEXT / 2

            [{ 0 => true, 1 => "on request" }.fetch(small, false),
             format("texts took %.1f MB, with compress: true %.1f MB", unasked[0] / 1e6, asked[0] / 1e6)]
          end

          # Bytes that texts take, and that as much noise takes.
          def room(**options)
            [->(i) { text(i) }, ->(i) { Random.new(i).bytes(TEXT) }].map do |make|
              before = footprint
              TEXTS.times { |i| put("room-#{make.hash}-#{i}", make.call(i), **options) }
              growth = footprint - before
              row.endpoint ? [growth.server, growth.disk].max : [growth.own, growth.mapped, growth.disk].max
            end
          end

          def footprint = Footprint.take(pid: row.endpoint && row.endpoint["pid"], dirs: row.directories)

          def text(number)
            line = "All work and no play makes #{number} a dull number. "
            (line * (TEXT / line.size)).ljust(TEXT)
          end

          # Another process changes the value, without this store's knowledge.
          def local_copy?
            keep("local", "one")
            elsewhere { |other| other.write("local", "two", **LIFE) }
            seen?("local", "one")
          end

          # A store that no other process can change, and that keeps nothing itself.
          def local_value?
            put("local", "one")
            !row.class.keeps_values? && seen?("local", "one")
          end

          def spread(urls)
            both = over(urls)
            SPREAD.times { |i| both.write("spread-#{i}", i) }
            all, *each = [both, *urls.map { |url| over([url]) }].map do |one|
              (0...SPREAD).count { |i| one.read("spread-#{i}") == i }
            end
            [all == SPREAD && each.sum == SPREAD && each.all?(&:positive?),
             "of #{SPREAD} keys over two servers #{each.join(" and ")} are on each"]
          end

          # A store over these servers, without files that another one has used.
          def over(urls)
            name = row.recorded[:store]
            file = File.expand_path("over-#{@stores = @stores.to_i + 1}.larder")
            ActiveSupport::Cache.lookup_store(name, *SERVERS.fetch(name).call(urls, file))
          end
        end
      end
    end
  end
end
