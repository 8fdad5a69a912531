# frozen_string_literal: true

require_relative "../clock"
require_relative "../footprint"
require_relative "../histogram"
require_relative "../hitratio/synthetic"

module Larder
  module Lab
    module Suites
      # Fills a store with twice as much as it has room for. Then it requests objects, few of them often (Zipf), and
      # stores those that were evicted. Time is divided into slices.
      class Soak
        include Clock

        # Bytes of a value: a little less than what Rails begins to compress.
        BYTES = 900
        # Bytes of all objects, as a multiple of the room.
        FILLING = 2
        # A store on the disk that takes more than this number of times its room does not limit itself.
        LIMIT = 3
        # Objects that are written by one call, and calls between two looks at the disk.
        BATCH = 100
        LOOK = 20
        SLICES = 20
        # Requests that are drawn beforehand, and repeated.
        REQUESTS = 100_000
        # Characters of a failure that are shown: a line has room for them.
        SHOWN = 60

        # The median of the last slices as a multiple of that of the first, by halves (2) or quarters (4); nil without
        # values.
        def self.growth(values, part)
          return unless values.all? && values.first.positive?

          size = [values.size / part, 1].max
          first, last = [values.first(size), values.last(size)].map { |some| Bench::Stats.median(some.map(&:to_f)) }
          last / first
        end

        def initialize(contender)
          @contender = contender
          @store = contender.store
          @objects = contender.size * FILLING / BYTES
          @noise = Random.new(1).bytes(1 << 16).freeze
          @failures = Hash.new(0)
        end

        def fill
          (0...@objects).each_slice(BATCH).with_index do |numbers, at|
            objects = numbers.to_h { |number| [key(number), value(number)] }
            counting { @store.write_multi(objects, expires_in: 5.minutes) }
            disk if (at % LOOK).zero?
          end
        end

        def use(seconds)
          @requests = Hitratio::Synthetic.make("zipf", objects: @objects, requests: REQUESTS).requests
          @asked = @misses = 0
          slices = Array.new(SLICES) { slice(seconds / SLICES) }
          histograms, memory, disk = slices.transpose
          all = Histogram.merge(histograms)
          raise Unavailable, "all of its calls fail: #{@failures.max_by(&:last).first}" if all.count.zero?

          { "calls" => all.count, "seconds" => all.mean,
            "figures" => { histogram: all.to_h, misses: @misses.fdiv(@asked), failures: @failures,
                           memory: memory, disk: disk, rates: histograms.map { |each| each.mean && (1 / each.mean) },
                           tails: histograms.map { |each| each.quantile(0.999) } } }
        end

        private

        # Lasts until its time is over, with at least one call. Answers latencies, memory and disk.
        def slice(seconds)
          histogram = Histogram.new
          finish = now + seconds
          loop do
            number = @requests[@asked % @requests.size]
            @asked += 1
            counting { histogram.record(call(number)) }
            break if now >= finish
          end
          [histogram, memory, disk]
        end

        # The block of a miss is not the store's work, but next to nothing. Answers nanoseconds.
        def call(number)
          expected = value(number)
          start = clock
          found = @store.fetch(key(number), expires_in: 5.minutes) do
            @misses += 1
            expected
          end
          taken = clock - start
          return taken if found == expected

          raise Invalid, "a wrong value: #{found.inspect[0, SHOWN]} instead of that of object #{number}"
        end

        # A store that fails now and then while it is full is measured all the same, and its failures are counted.
        def counting
          yield
        rescue Invalid
          raise
        rescue StandardError => error
          @failures["#{error.class.to_s.demodulize}: #{error.message.lines.first.to_s.strip}"[0, SHOWN]] += 1
        end

        def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

        def key(number) = ["object", number]

        # Begins with the number of its key and cannot be compressed.
        def value(number)
          format("%016d", number) << @noise.byteslice((number * 37) % (@noise.bytesize - BYTES), BYTES - 16)
        end

        # The bytes of this process and of the server.
        def memory
          own = Footprint.memory("self")
          own && (own + (@contender.endpoint ? Footprint.memory(@contender.endpoint["pid"]).to_i : 0))
        end

        # The bytes of the store's files.
        def disk
          bytes = @contender.disk_bytes
          return bytes if bytes.to_i <= @contender.size * LIMIT

          raise Unavailable, "it does not limit itself: it takes #{bytes / 1_000_000} MB on the disk, where " \
                             "#{@contender.size / 1_000_000} MB were asked for"
        end
      end

      register("soak", Bench::Suite.define("soak") do
        title "Full, and evicting"
        command "soak", "speed and size of a full store that evicts, over time", <<~TEXT
          Measures a full store over time. Each store gets little room, is filled with
          twice as much, and is then read by a Zipf distribution; an evicted object is
          written again. The report shows throughput, the slowest call in a thousand,
          memory and disk over time, and whether the second half is slower than the first.

          Objects are 900 random bytes. A store that uses more than three times its size
          on disk has no limit, and is not measured.
        TEXT
        question "Does a full store that evicts stay fast and small?"
        sessions 1
        size 16 << 20
        sized true
        setting :block_seconds, 10.0, "of calls on each store", quick: 1.0, most: 60
        usual { Contenders.usual.select { |name| Contenders.fetch(name).keeps_values? } }

        block(:full, "a full store", alone: true, about: "filled with twice its room; then objects are read, few of " \
                                                         "them often, and stored again if they were evicted") do
          setup do |scene|
            scene.must_be_filled
            scene[:full] = Soak.new(scene.contender).tap(&:fill)
          end
          paced { |scene| scene[:full].use(scene.settings[:block_seconds]) }
          column("calls/s", "number", better: "higher", unit: "per second") { |found| 1 / Histogram.of([found]).mean }
          column("misses", "percent") { |found| found["misses"] }
          column("p99.9", "seconds", better: "lower", unit: "seconds", all: true) do |all|
            Histogram.of(all).percentile(0.999)
          end
          column("slowest", "seconds", all: true) { |all| Histogram.of(all).slowest }
          column("2nd half to 1st", "number",
                 sentence: "Calls a second in the second half, as a multiple of the first") do |found|
            Soak.growth(found["rates"], 2)
          end
          %w[memory disk].each do |place|
            column(place, "bytes") { |found| found[place].last }
            column("#{place} grows", "number",
                   sentence: "The #{place} at the end, as a multiple of the beginning") do |found|
              Soak.growth(found[place], 4)
            end
          end
          column("failed", nil, all: true) do |all|
            failures = all.map { |found| found["failures"] }.reduce { |sum, more| sum.merge(more) { |_, a, b| a + b } }
            failures.map { |message, times| "#{times}: #{message}" }.join(", ") if failures.any?
          end
          # Figures that have a number for each slice.
          { "rates" => ["Calls a second over time", "number"],
            "tails" => ["The slowest call in a thousand over time", "seconds"],
            "memory" => ["Memory of process and server over time", "bytes"],
            "disk" => ["Blocks on the disk over time", "bytes"] }.each do |name, (title, format)|
            curve(title, x: { title: "slice", format: "integer" }, y: { title: title, format: format }) do |all|
              slices = all.map { |found| found[name] }.transpose
              slices.each.with_index(1).filter_map { |some, slice| [slice, Bench::Stats.median(some)] if some.all? }
            end
          end
        end
      end)
    end
  end
end
