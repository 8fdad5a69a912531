# frozen_string_literal: true

require_relative "../../histogram"

module Larder
  module Lab
    module Suites
      module Tails
        # Times single calls, back to back or by a schedule. The loops below are the measured code: between the two
        # readings of the clock there is the call alone. Latencies are counted in a histogram outside of that time.
        class Meter
          # Calls after which their latencies are counted.
          CHUNK = 1000
          # Nanoseconds that are waited for awake: sleeping is no more exact than that.
          AWAKE = 1_000_000
          # A schedule is given up when it takes this number of times as long as it should.
          LATE = 4
          SECOND = 1_000_000_000

          # calls; seconds: that they took, or that the schedule took; allocated: objects
          Block = Struct.new(:histogram, :calls, :seconds, :allocated, keyword_init: true)

          # The times at which calls of an open loop are due, nanoseconds from the beginning: arrivals at a rate, as of
          # many callers that know nothing of each other, a Poisson process. Some calls come while others are served.
          # Waiting for those is part of their latency, as it is for requests of an application.
          def self.schedule(rate, calls, random)
            at = 0.0
            Array.new(calls) { (at -= Math.log(1.0 - random.rand) * SECOND / rate).round }
          end

          def initialize(expected, wrong)
            @expected = expected
            @wrong = wrong
            @latencies = Array.new(CHUNK, 0)
          end

          # Calls back to back.
          # Between chunks, outside the time, `pause` gets the number of the next call.
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
          # It makes fewer calls than the schedule has if it falls far behind.
          def open(schedule, &call)
            latencies = Array.new(schedule.size, 0)
            counted do |block|
              block.calls, time = scheduled(schedule, latencies, &call)
              block.seconds = time.fdiv(SECOND)
              block.calls.times { |i| block.histogram.record(latencies[i]) }
            end
          end

          private

          def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

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
            before = GC.stat(:total_allocated_objects)
            yield block
            block.allocated = GC.stat(:total_allocated_objects) - before
            block
          end
        end
      end
    end
  end
end
