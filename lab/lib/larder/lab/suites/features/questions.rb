# frozen_string_literal: true

require "fileutils"
require "timeout"
require_relative "../../bench/callers"
require_relative "../../clock"
require_relative "../../footprint"
require_relative "../../hosting"
require_relative "../../proxy"

module Larder
  module Lab
    module Suites
      module Features
        # Written values cannot be read, so every other answer would mean nothing.
        class Lost < Error; end

        # Methods that answer the questions of {BLOCKS}, in their order: what the published table says; what single
        # calls do; what outlives processes and servers, and what several processes do at once. Each returns the answer
        # (true, false, nil if it is unknown, a number or a word), and what was seen where that says more.
        class Questions
          include Clock

          # Seconds that a question may take.
          PATIENCE = 25
          # Options of each write: keys in a server of the user expire by themselves.
          LIFE = { expires_in: 300 }.freeze
          NOT_OURS = [UNTRIED, "the server is not the lab's own"].freeze
          PASSING = "at a URL of yours its place lasts no longer than a process; without the URL the lab starts a " \
                    "server"
          # Bytes below memcached's megabyte, and how many values of that size show the room that they take.
          TEXT = 900_000
          TEXTS = 10
          # Keys that are written to two servers, and how a store is given several: their URLs, a file for its own.
          SPREAD = 100
          SERVERS = { mem_cache_store: ->(urls, _) { urls }, redis_cache_store: ->(urls, _) { [{ url: urls }] },
                      larder_store: lambda do |urls, file|
                        [file, { remote: [:redis_cache_store, { url: urls.one? ? urls.first : urls }] }]
                      end }.freeze
          # Lengths of keys; of each, two keys that differ in the last byte are tried.
          LENGTHS = [251, 1024, 4096, 65_536].freeze
          # Bytes of the largest value that is tried, and to how many bytes it is found.
          LARGEST = 16 << 20
          STEP = 4096
          # Seconds that a server may take to end.
          ENDING = 15
          # Processes that increment at once, and increments of each.
          PROCESSES = 3
          INCREMENTS = 100

          # @raise [Unavailable] if other processes cannot use this store
          def initialize(scene)
            @row = scene.contender
            @store = scene.store
            raise Unavailable, PASSING if solid? && theirs?
          end

          # As a paced block has it.
          def answers(questions)
            started = now
            answers = questions.to_h { |question| [question, attempt(question)] }
            { "calls" => questions.size, "seconds" => (now - started) / questions.size, "figures" => answers }
          end

          private

          attr_reader :row, :store

          def attempt(question)
            answer, note = Timeout.timeout(PATIENCE) { send(question) }
            [answer.nil? ? UNKNOWN : answer, note]
          rescue Lost => error
            [false, error.message]
          rescue StandardError, NotImplementedError, LoadError => error
            [UNKNOWN, words(error)]
          end

          # An error in one line.
          def words(error)
            [(error.class unless error.is_a?(Error)), error.message.lines.first.to_s.strip].compact.join(": ")
          end

          def put(key, value, **options) = store.write(key, value, **LIFE, **options)

          # Writes, and proves that it can be read.
          def keep(key, value, **options)
            put(key, value, **options)
            raise Lost, "what is written cannot be read" unless seen?(key, value)
          end

          def seen?(key, value) = store.read(key) == value

          # Yields the store of another process, which ends afterwards. Answers are plain data.
          def elsewhere(row = another)
            Bench::Callers.all(1) { [yield(row.open.store)] }.first.first
          end

          # The same row for another process, not opened.
          def another = row.class.new(dir: Dir.pwd, endpoint: row.endpoint, size: row.size)

          def cross_process
            keep("shared", "from the first")
            found = elsewhere do |other|
              other.write("back", "from the second", **LIFE)
              other.read("shared").tap { other.delete("shared") }
            end
            return [false, "a second process reads #{found.inspect}"] unless found == "from the first"

            both = seen?("back", "from the second") && store.read("shared").nil?
            [both, both ? "through #{way}" : "the first process does not see what the second changed"]
          end

          def shared?
            @shared ||= attempt(:cross_process)
            @shared.first == true
          end

          def way
            return "files" unless row.endpoint
            return "a server of yours" if theirs?

            row.endpoint["socket"] ? "a Unix socket" : "TCP on the loopback interface"
          end

          # Yields a contender as the row, not opened, with a directory of its own, and its own server, if it needs one.
          def hosted(name)
            dir = "#{row.directories.first}-#{name}"
            Hosting.for(row.class, dir, size: row.size) do |endpoint, server|
              Dir.mkdir(dir)
              endpoint = endpoint&.merge("dir" => "#{dir}-server")
              yield row.class.new(dir: dir, endpoint: endpoint, size: row.size), server
            end
          ensure
            FileUtils.rm_rf(dir)
          end

          # True if its server is the user's.
          def theirs? = !row.endpoint.nil? && !row.endpoint["private"]

          def solid? = row.class.key.start_with?("solid_cache")

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

          def expires = expired(1)

          def expires_within_a_second = expired(0.4)

          def race_condition_ttl
            keep("raced", "old", expires_in: 1, race_condition_ttl: 60)
            sleep 1.2
            meanwhile = nil
            store.fetch("raced", race_condition_ttl: 60, expires_in: 60) { (meanwhile = store.read("raced")) && "new" }
            [meanwhile == "old" && seen?("raced", "new"), "while it was renewed, others read #{meanwhile.inspect}"]
          end

          def delete_matched
            refusal = "nothing was deleted"
            kind, = { "Regexp" => /matched-a\d/, "glob" => "*matched-a*" }.find do |_, pattern|
              %w[a1 a2 b1].each { |name| keep("matched-#{name}", name) }
              store.delete_matched(pattern)
              store.read("matched-a1").nil? && store.read("matched-a2").nil? && seen?("matched-b1", "b1")
            rescue Lost
              raise
            rescue StandardError, NotImplementedError => error
              refusal = words(error)
              false
            end
            [kind || false, kind ? "delete_matched takes a #{kind}" : refusal]
          end

          def long_keys
            longest = LENGTHS.take_while { |length| apart?(length) }.last
            longest ? [true, "up to #{longest} bytes"] : [false, "keys of #{LENGTHS.first} bytes are lost or mixed up"]
          end

          def largest
            return [LARGEST, "or more"] if holds?(LARGEST)

            fails = (0..LARGEST / STEP).bsearch { |steps| !holds?(steps * STEP) }
            [[fails - 1, 0].max * STEP, "bytes"]
          end

          def expired(life)
            started = now
            put("expiring", "v", expires_in: life)
            there = seen?("expiring", "v")
            return [nil, "the machine is too busy to read within #{life} s"] if now - started > life / 2.0
            return [false, "a value of #{life} s is gone at once"] unless there

            sleep life + 0.2
            gone = store.read("expiring").nil?
            [gone, "after #{life} s it #{gone ? "is gone" : "is still there"}"]
          end

          def apart?(length)
            pair = %w[1 2].to_h { |last| ["#{"k" * (length - 1)}#{last}", last] }
            pair.each { |key, value| put(key, value) }
            pair.all? { |key, value| seen?(key, value) }
          rescue StandardError
            false # a length that this store refuses
          end

          def holds?(bytes)
            value = (@noise ||= Random.new(1).bytes(LARGEST)).byteslice(0, bytes)
            put("large", value, compress: false) && seen?("large", value)
          rescue StandardError
            false # too large, as this store says it
          ensure
            forget("large")
          end

          def forget(key)
            store.delete(key)
          rescue StandardError
            nil # a connection that was cut with the value
          end

          def app_restart
            elsewhere(apart) { |writer| writer.write("mark", "1", **LIFE) }
            marked?(apart, "1")
          end

          def app_killed
            Bench::Callers.run(1) do
              apart.open.store.write("mark", "2", **LIFE)
              Process.kill(:KILL, Process.pid)
            end
            marked?(apart, "2")
          end

          # A store that outlives a kill outlives a restart, too.
          def server_restart = ends { |_, stopped| stopped }

          def server_killed = ends { |killed, _| killed }

          def atomic_increment
            store.increment("counter", 1, **LIFE)
            processes = shared? ? PROCESSES : 1
            other = nil
            open = -> { (other = another.open.store).exist?("counter") }
            Bench::Callers.all(processes, ready: open) { INCREMENTS.times { other.increment("counter", 1, **LIFE) } }
            return [false, "private to one process"] unless shared?

            wanted = (processes * INCREMENTS) + 1
            found = store.read("counter", raw: true).to_i
            [found == wanted, "#{found} of #{wanted} in #{processes} processes at once"]
          end

          # Comes last: it may harm the store.
          def fork_safe
            keep("before", "the fork")
            write = -> { store.write("child", "was here", **LIFE) }
            read, written = Bench::Callers.all(1) { [store.read("before"), write.call] }.first
            return [false, "the child read #{read.inspect}"] unless read == "the fork"
            return [false, "the child could not write"] unless written

            there = seen?("before", "the fork") && (!shared? || seen?("child", "was here"))
            [there, there ? "child and parent read and write" : "the parent lost its store, or the child's value"]
          end

          # A store that only other processes open, one after the other.
          def apart = @apart ||= row.another("apart")

          def marked?(row, mark) = elsewhere(row) { |reader| reader.read("mark") } == mark

          # Yields whether a value outlives kill -9 of the server, and whether it outlives a stop.
          def ends
            return ["no server", nil] unless row.endpoint
            return NOT_OURS if theirs?

            @ends ||= hosted("ended") do |own, server|
              killed = outlives?(own, server, :KILL)
              [killed, killed || outlives?(own, server, :TERM)]
            end
            yield(*@ends)
          end

          # The value is read from another directory, so no file of the store answers in place of its server.
          def outlives?(own, server, signal)
            elsewhere(own) { |writer| writer.write("mark", signal.to_s, **LIFE) }
            restart(server, signal)
            marked?(own.another("after-#{signal}", endpoint: own.endpoint.merge(server.endpoint)), signal.to_s)
          end

          def restart(server, signal)
            process = "/proc/#{server.pid}"
            Process.kill(signal, server.pid)
            limit = now + ENDING
            sleep 0.01 while now < limit && File.exist?(process)
            raise Unavailable, "the server does not end within #{ENDING} s of SIG#{signal}" if File.exist?(process)

            server.stop
            server.start
          end
        end
      end
    end
  end
end
