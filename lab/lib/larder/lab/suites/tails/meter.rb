# frozen_string_literal: true

# Times single calls, back to back or by a schedule. The loops below are the measured code: between the two readings
# of the clock there is the call alone. Latencies are counted in a histogram outside of that time.

require_relative "../../histogram"

module Larder
  module Lab
    module Suites
      module Tails
        # Times calls of one kind.
        class Meter
          # Calls after which their latencies are counted.
          CHUNK = 1000
          # Nanoseconds that are waited for awake: sleeping is no more exact than that.
          AWAKE = 1_000_000
          # A schedule is given up when it takes so many times as long as it should.
          LATE = 4
          SECOND = 1_000_000_000

          # calls; seconds: that they took, or that the schedule took; collections and collecting: runs of the garbage
          # collector and seconds of them; allocated: objects
          Block = Struct.new(:histogram, :calls, :seconds, :collections, :collecting, :allocated, keyword_init: true) do
            # @return [Hash{Symbol=>Object}]
            def to_h
              super.merge(histogram: histogram.to_h)
            end
          end

          # @param expected [Object] what every call must answer
          # @param wrong [#call] is told the number of a call and what it answered instead
          def initialize(expected, wrong)
            @expected = expected
            @wrong = wrong
            @latencies = Array.new(CHUNK, 0)
          end

          # Calls back to back.
          # @param seconds [Float] that the calls take together, at least
          # @param pause [#call, nil] between chunks, outside the time; is told the number of the next call
          # @yieldparam number [Integer] of the call, from 0
          # @yieldreturn [Object] what is compared with what was expected
          # @return [Block]
          def closed(seconds, pause: nil, &call)
            counted do |block|
              left = (seconds * SECOND).ceil
              while left.positive?
                pause&.call(block.calls)
                calls, time = chunk(block.calls, left, &call)
                calls.times { |i| block.histogram.record(@latencies[i]) }
                block.calls += calls
                block.seconds += time.fdiv(SECOND)
                left -= time
              end
            end
          end

          # Calls at the times of a schedule, or as soon after as the call before has answered. Latency counts from the
          # time of the schedule: what a call waited for the one before is part of it, as its caller would have waited.
          # @param schedule [Array<Integer>] nanoseconds from the beginning, ascending
          # @yieldparam number [Integer] of the call, from 0
          # @yieldreturn [Object] what is compared with what was expected
          # @return [Block] with fewer calls than the schedule has if it fell far behind
          def open(schedule, &call)
            latencies = Array.new(schedule.size, 0)
            counted do |block|
              block.calls, time = scheduled(schedule, latencies, &call)
              block.seconds = time.fdiv(SECOND)
              block.calls.times { |i| block.histogram.record(latencies[i]) }
            end
          end

          private

          def clock
            Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
          end

          # Answers how many calls were made and nanoseconds from the first reading of the clock to the last one.
          def chunk(first, left)
            latencies = @latencies
            expected = @expected
            i = 0
            begun = finish = clock
            limit = begun + left
            while i < CHUNK && finish < limit
              start = clock
              value = yield first + i
              finish = clock
              latencies[i] = finish - start
              @wrong.call(first + i, value) unless value == expected
              i += 1
            end
            [i, finish - begun]
          end

          def scheduled(schedule, latencies)
            expected = @expected
            i = 0
            finish = begun = clock + AWAKE
            limit = begun + (schedule.last.to_i * LATE) + SECOND
            while i < schedule.size && finish < limit
              due = begun + schedule[i]
              wait_for(due) if finish < due
              value = yield i
              finish = clock
              latencies[i] = finish - due
              @wrong.call(i, value) unless value == expected
              i += 1
            end
            [i, finish - begun]
          end

          def wait_for(due)
            left = due - clock
            sleep((left - AWAKE).fdiv(SECOND)) if left > AWAKE
            nil while clock < due
          end

          def counted
            block = Block.new(histogram: Histogram.new, calls: 0, seconds: 0.0)
            GC.start
            before = garbage
            yield block
            block.collections, block.collecting, block.allocated = garbage.zip(before).map { |now, then_| now - then_ }
            block
          end

          # Runs of the collector, seconds of them where Ruby counts them (since 3.1), objects.
          def garbage
            [GC.count, GC.stat(:time) / 1000.0, GC.stat(:total_allocated_objects)]
          end
        end
      end
    end
  end
end
