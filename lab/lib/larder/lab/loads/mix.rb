# frozen_string_literal: true

# Makes a mix of reads and writes on keys that all callers share: what one caller does until its time is up. The loop
# is the measured code.

module Larder
  module Lab
    module Loads
      # One caller.
      class Mix
        # Keys that all share.
        KEYS = 1009
        VALUES = Array.new(KEYS) { |i| "Hello World! #{i}".freeze }.freeze
        # Calls between two looks at the clock, which cost next to nothing then.
        BATCH = 16
        # Of this many calls one is a write in "95/5".
        ROUND = 20
        # What a caller does, by name: whether it writes, too.
        NAMES = { "read" => false, "95/5" => true }.freeze

        # calls; seconds from the common start to the end of the last one; block_runs: reads that missed; wrong: nil, or
        # [key, found]
        Outcome = Struct.new(:calls, :seconds, :block_runs, :wrong)

        # The loop without a call, to measure what the lab itself takes.
        class Loop < Mix
          private

          def call(at, outcome)
            i = at * 7 % KEYS
            value = VALUES[i]
            outcome.wrong ||= [["shared", i], value] unless value == VALUES[i]
          end
        end

        # @param seconds [Float] to measure for
        # @return [Float] seconds of a call that are not the store's
        def self.own(seconds)
          outcome = Loop.new(nil, "read", 0).run(Process.clock_gettime(Process::CLOCK_MONOTONIC), seconds)
          outcome.seconds / outcome.calls
        end

        # Writes all keys.
        # @param store [ActiveSupport::Cache::Store]
        # @return [void]
        def self.fill(store)
          KEYS.times { |i| store.write(["shared", i], VALUES[i], expires_in: 5.minutes) }
        end

        # @param store [ActiveSupport::Cache::Store]
        # @param name [String] of {NAMES}
        # @param number [Integer] of the caller, so that each begins at another key
        def initialize(store, name, number)
          @store = store
          @writes = NAMES.fetch(name)
          @number = number
        end

        # @param start [Float] when to begin, on the monotonic clock, which all processes share
        # @param seconds [Float]
        # @return [Outcome]
        def run(start, seconds)
          outcome = Outcome.new(0, 0.0, 0, nil)
          left = start - clock
          sleep(left) if left.positive?
          at = @number * 7919
          until (time = clock) >= start + seconds
            BATCH.times { call(at += 1, outcome) }
            outcome.calls += BATCH
          end
          outcome.seconds = time - start
          outcome
        end

        private

        def clock
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # The number of keys is a prime, so that every step reaches all of them, to read and to write.
        def call(at, outcome)
          i = at * 7 % KEYS
          if @writes && (at % ROUND).zero?
            @store.write(["shared", i], VALUES[i], expires_in: 5.minutes)
          else
            value = @store.fetch(["shared", i], expires_in: 5.minutes) do
              outcome.block_runs += 1
              VALUES[i]
            end
            outcome.wrong ||= [["shared", i], value] unless value == VALUES[i]
          end
        end
      end
    end
  end
end
