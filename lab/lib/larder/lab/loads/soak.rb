# frozen_string_literal: true

require_relative "../hitratio/synthetic"
require_relative "../histogram"
require_relative "../process_memory"
require_relative "load"

module Larder
  module Lab
    module Loads
      # A store with little room: filled with twice as much as it has room for, then asked for objects of which few are
      # popular (Zipf), and given what it does not have any more. Time is cut into slices.
      #
      # Job: size: bytes of the room; seconds; slices; seed.
      class Soak < Load
        Loads.register("soak", self)

        # Bytes of a value: a little less than what Rails begins to compress.
        BYTES = 900
        # Bytes of all objects, as a multiple of the room.
        FILLING = 2
        # A store on disk that takes up so many times its room does not limit itself.
        LIMIT = 3
        # Objects that are written by one call while filling.
        BATCH = 100
        # Times the disk is looked at while filling.
        LOOKS = 16
        # How unlike the objects' popularity is.
        SKEW = 0.9
        # Requests that are drawn before the clock starts, and repeated.
        REQUESTS = 100_000

        private

        def measure
          return emit("stopped", reason: "keeps nothing") unless keeps?

          @pool = Random.new(job["seed"]).bytes(1 << 16).freeze
          @objects = job["size"] * FILLING / BYTES
          contender.clear
          fill && slices
        end

        def fill
          started = now
          look = [@objects / BATCH / LOOKS, 1].max
          errors = Hash.new(0)
          (0...@objects).each_slice(BATCH).with_index do |keys, at|
            counting(errors) { store.write_multi(keys.to_h { |i| [key(i), value(i)] }, expires_in: 5.minutes) }
            return false if (at % look).zero? && boundless?
          end
          emit("filled", seconds: now - started, objects: @objects, errors: errors, **room)
          !boundless?
        end

        def boundless?
          bytes = contender.disk_bytes.to_i
          return false if bytes <= job["size"] * LIMIT

          emit("stopped", disk_bytes: bytes,
                          reason: "does not limit itself: takes up #{bytes / 1_000_000} MB on disk where " \
                                  "#{job["size"] / 1_000_000} MB were asked for")
          true
        end

        def slices
          pattern = "zipf:objects=#{@objects},skew=#{SKEW},requests=#{REQUESTS},seed=#{job["seed"]}"
          requests = Hitratio::Synthetic.make(pattern).requests
          length = job["seconds"] / job["slices"]
          @at = 0
          begun = now
          job["slices"].times do |number|
            slice(number, begun, length, requests)
            break if boundless?
          end
        end

        # Until its length is over, and at least one call.
        def slice(number, begun, length, requests)
          histogram = Histogram.new
          @misses = 0
          errors = Hash.new(0)
          finish = now + length
          loop do
            counting(errors) { call(requests[@at % requests.size], histogram) }
            @at += 1
            break if now >= finish
          end
          emit("slice", number: number, at: now - begun, misses: @misses, errors: errors, histogram: histogram.to_h,
                        **room)
        end

        # The block of a miss is not the store's work, but next to nothing.
        def call(number, histogram)
          expected = value(number)
          start = clock
          found = store.fetch(key(number), expires_in: 5.minutes) do
            @misses += 1
            expected
          end
          histogram.record(clock - start)
          wrong!(key(number), found, expected) unless found == expected
        end

        # A store that fails now and then while it is full is measured all the same, and its failures are told.
        def counting(errors)
          yield
        rescue Invalid
          raise
        rescue StandardError => error
          errors["#{error.class}: #{error.message.lines.first.to_s.strip}"] += 1
        end

        def clock
          Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
        end

        def key(number)
          ["object", number]
        end

        # Begins with the number of its key and cannot be compressed.
        def value(number)
          format("%016d", number) << @pool.byteslice((number * 37) % (@pool.bytesize - BYTES), BYTES - 16)
        end

        # Bytes of memory, of this process and of the private server, and on disk.
        def room
          { memory_bytes: ProcessMemory.resident("self"),
            server_bytes: ProcessMemory.resident(job.dig("endpoint", "pid")), disk_bytes: contender.disk_bytes }
        end
      end
    end
  end
end
