# frozen_string_literal: true

# Lists the questions that `larder-lab features` puts to every store, in the order of its tables.

require_relative "../published"
require_relative "filling"

module Larder
  module Lab
    # Finds out what stores can do, by trying.
    module Features
      # Written values cannot be read, so every other answer would mean nothing.
      class Lost < Error; end

      # A question. key: its name in answers; title: of its column; meaning: of yes; table: of {Probes::TABLES}; part:
      # the process that asks it, or :visit if {Visit} answers; block: run in {Worker}, returns the answer (true, false,
      # a number or a word) and what was seen.
      Probe = Struct.new(:key, :title, :meaning, :table, :part, :block) do
        # @return [String] of its column
        def format = key == "largest" ? "bytes" : "text"
      end

      # The questions.
      module Probes
        TABLES = { published: "The published table", calls: "Calls",
                   lasting: "Values that last, and processes that share them", full: "Twice its room, written" }.freeze
        # Lengths of keys; of each, two keys that differ in the last byte are tried.
        LENGTHS = [251, 1024, 4096, 65_536].freeze
        # Bytes of the largest value that is tried, and to how many bytes it is found.
        LARGEST = 16 << 20
        STEP = 4096
        # Increments of each process, all at once.
        INCREMENTS = 200
        # Keys that are written to two servers, and how a store is given several: their URLs, a file for its own.
        SPREAD = 100
        SERVERS = { mem_cache_store: ->(urls, _) { urls }, redis_cache_store: ->(urls, _) { [{ url: urls }] },
                    larder_store: lambda do |urls, file|
                      [file, { remote: [:redis_cache_store, { url: urls.one? ? urls.first : urls }] }]
                    end }.freeze

        @all = []

        class << self
          # @return [Array<Probe>]
          attr_reader :all

          # @return [Probe]
          def fetch(key) = all.find { |probe| probe.key == key }

          # @return [Array<String>] keys of the questions that this process asks
          def of(part) = all.select { |probe| probe.part == part }.map(&:key)

          # @return [Hash{String=>Hash{String=>Object}}] rows of the published table: the title of a question => true,
          #   false or a word. The lab tested none of it.
          def published
            @published ||= Published.of("features").tables.first.then do |table|
              titles = ["title", *table.columns.map(&:title)]
              table.rows.transform_values { |cells| titles.zip(cells).to_h }
            end
          end

          # @return [String, nil] the published row that is about a contender
          def published_row(name) = published.keys.find { |key| name == key || name.start_with?("#{key}-", "#{key}_") }

          private

          def probe(table, key, title, meaning, part: :first, &block)
            @all << Probe.new(key, title, meaning, table, part, block).freeze
          end
        end

        probe :published, "serializes", "serializes",
              "a copy is kept: neither the object nor what was read can change it" do
          value = { "list" => ["a"] }
          keep("mutable", value)
          value["list"] << "b"
          first = store.read("mutable")
          next [false, "changing the object changed what is cached"] unless first == { "list" => ["a"] }

          first["list"] << "c"
          copied = seen?("mutable", { "list" => ["a"] })
          [copied, copied ? "a copy is kept, and a copy is read" : "changing what was read changed what is cached"]
        end

        probe :published, "compression", "compression",
              "a text of 900 kB takes less room; on request: with compress: true", part: :again do
          counted = packed? || (packed?(compress: true) && "on request")
          next [counted, "#{CountingCompressor.taken} bytes became #{CountingCompressor.given}"] if counted

          unasked, asked = [room, room(compress: true)]
          small = [unasked, asked].index { |texts, noises| texts < noises / 2 }
          [{ 0 => true, 1 => "on request" }.fetch(small, false),
           format("texts took %.1f MB, with compress: true %.1f MB", unasked[0] / 1e6, asked[0] / 1e6)]
        end

        probe :published, "local_store", "local store",
              "inside with_local_cache a second read does not reach the store" do
          next [false, "it has no with_local_cache"] unless store.respond_to?(:with_local_cache)

          shared = shared?
          local = store.with_local_cache { shared ? local_copy? : local_value? }
          [local, "the second read in a block #{local ? "did not reach" : "reaches"} the store"]
        end

        probe :published, "cross_process", "cross process",
              "two processes read what the other wrote, and miss what it deleted" do
          keep("shared", "from the first")
          found = peers.first.ask(:read, "shared")
          next [false, "a second process reads #{found.inspect}"] unless found == "from the first"

          peers.first.ask(:write, "back", "from the second")
          peers.first.ask(:delete, "shared")
          both = seen?("back", "from the second") && store.read("shared").nil?
          [both, both ? "through #{way}" : "the first process does not see what the second changed"]
        end

        probe :published, "node_local", "node local", "the processes of one machine share it without another machine" do
          [shared?, shared? ? "two processes of this machine share it through #{way}" : "processes share nothing"]
        end

        probe :published, "remote", "remote", "a client reaches it by host and port", part: :visit

        probe :published, "cluster", "cluster", "a client spreads its keys over two servers", part: :cluster do
          next ["not tested", "it takes no list of servers"] unless servers

          both = over(job["urls"])
          SPREAD.times { |i| both.write("spread-#{i}", i) }
          all, *each = [both, *job["urls"].map { |url| over([url]) }].map do |one|
            (0...SPREAD).count { |i| one.read("spread-#{i}") == i }
          end
          [all == SPREAD && each.sum == SPREAD && each.all?(&:positive?),
           "of #{SPREAD} keys over two servers #{each.join(" and ")} are on each"]
        end

        probe :published, "limited_by", "limited by", "the place that grew by the values in the store", part: :full do
          filling.limited_by
        end

        probe(:calls, "expires", "expires", "a value is gone after its second") { expired(1) }

        probe :calls, "expires_within_a_second", "under 1 s", "a value of 0.4 s is there, and gone in time" do
          expired(0.4)
        end

        probe :calls, "race_condition_ttl", "race ttl",
              "while one caller renews an expired value, others read the old one" do
          keep("raced", "old", expires_in: 1, race_condition_ttl: 60)
          sleep 1.2
          meanwhile = nil
          store.fetch("raced", race_condition_ttl: 60, expires_in: 60) { (meanwhile = store.read("raced")) && "new" }
          [meanwhile == "old" && seen?("raced", "new"), "while it was renewed, others read #{meanwhile.inspect}"]
        end

        probe :calls, "delete_matched", "delete_matched", "the kind of pattern that it takes" do
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

        probe :calls, "long_keys", "keys > 250 B", "such keys are kept apart to their last byte" do
          longest = LENGTHS.take_while { |length| apart?(length) }.last
          longest ? [true, "up to #{longest} bytes"] : [false, "keys of #{LENGTHS.first} bytes are lost or mixed up"]
        end

        probe :calls, "largest", "largest value", "that can be read back, incompressible, of at most 16 MiB tried" do
          next [LARGEST, "or more"] if holds?(LARGEST)

          fails = (0..LARGEST / STEP).bsearch { |steps| !holds?(steps * STEP) }
          [[fails - 1, 0].max * STEP, "bytes"]
        end

        probe :lasting, "app_restart", "app restart", "a value is there in the next process", part: :visit
        probe :lasting, "app_killed", "app kill -9", "the same after kill -9 of the process that wrote it", part: :visit
        probe :lasting, "server_restart", "server restart", "the same after the server was stopped and started",
              part: :visit
        probe :lasting, "server_killed", "server kill -9", "the same after kill -9 of the server", part: :visit

        probe :lasting, "atomic_increment", "increment", "no increment of several processes at once is lost" do
          store.increment("counter", 1)
          others = shared? ? peers.select { |peer| peer.ask(:exist?, "counter") } : [] # opens their stores
          others.each { |peer| peer.tell(:increment, "counter", INCREMENTS) }
          INCREMENTS.times { store.increment("counter") }
          others.each(&:answer)
          wanted = ((others.size + 1) * INCREMENTS) + 1
          found = store.read("counter", raw: true).to_i
          next [false, "private to one process, where #{found} of #{wanted} were counted"] unless shared?

          [found == wanted, "#{found} of #{wanted} in #{others.size + 1} processes at once"]
        end

        # Comes last: it may harm what it is done to.
        probe :lasting, "fork_safe", "fork", "a child uses the store that its parent opened, and the parent afterwards",
              part: :last do
          keep("before", "the fork")
          child = Peer.new { store }
          read = child.ask(:read, "before")
          next [false, "the child read #{read.inspect}"] unless read == "the fork"
          next [false, "the child could not write"] unless child.ask(:write, "child", "was here")

          there = seen?("before", "the fork") && (!shared? || seen?("child", "was here"))
          [there, there ? "child and parent read and write" : "the parent lost its store, or the child's value"]
        ensure
          child&.stop
        end

        probe :full, "evicts", "evicts", "of twice its limit of small values old ones go, and new ones stay",
              part: :full do
          filling.evicts
        end

        probe :full, "within_limit", "within limit", "it takes no more than a quarter above its limit", part: :full do
          filling.within_limit
        end
      end
    end
  end
end
