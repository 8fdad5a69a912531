# frozen_string_literal: true

# Fills a store with twice as much as it has room for. Then it requests objects, few of them often (Zipf), and stores
# those that were evicted. Time is divided into slices.

require_relative "../../clock"
require_relative "../../histogram"
require_relative "../../hitratio/synthetic"
require_relative "../../process_memory"

module Larder
  module Lab
    module Suites
      module Soak
        # One store.
        class Full
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
          # Characters of a failure that are shown.
          SHOWN = 80
          private_constant :BYTES, :FILLING, :LIMIT, :BATCH, :LOOK, :SLICES, :REQUESTS, :SHOWN

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
            { "calls" => all.count, "seconds" => all.mean,
              "figures" => { histogram: all.to_h, misses: @misses, failures: @failures, memory: memory, disk: disk,
                             rates: histograms.map { |each| each.mean && (1 / each.mean) },
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
            @failures["#{error.class}: #{error.message.lines.first.to_s.strip[0, SHOWN]}"] += 1
          end

          def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

          def key(number) = ["object", number]

          # Begins with the number of its key and cannot be compressed.
          def value(number)
            format("%016d", number) << @noise.byteslice((number * 37) % (@noise.bytesize - BYTES), BYTES - 16)
          end

          # The bytes of this process and of the server.
          def memory
            own = ProcessMemory.resident("self")
            own && (own + (@contender.endpoint ? ProcessMemory.tree(@contender.endpoint["pid"]).to_i : 0))
          end

          # The bytes of the store's files.
          def disk
            bytes = @contender.disk_bytes
            return bytes if bytes.to_i <= @contender.size * LIMIT

            raise Unavailable, "it does not limit itself: it takes #{bytes / 1_000_000} MB on the disk, where " \
                               "#{@contender.size / 1_000_000} MB were asked for"
          end
        end
      end
    end
  end
end
