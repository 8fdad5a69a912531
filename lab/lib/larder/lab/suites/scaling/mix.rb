# frozen_string_literal: true

# Reads, and writes now and then, keys that all callers share, until the time is up. The loop is the measured code.

require_relative "../../bench/callers"
require_relative "../../clock"

module Larder
  module Lab
    module Suites
      module Scaling
        # One caller.
        class Mix
          include Clock

          # Keys that all share.
          KEYS = 1009
          VALUES = Array.new(KEYS) { |number| "Hello World! #{number}".freeze }.freeze
          # Calls between two looks at the clock, which cost next to nothing then.
          BATCH = 16
          # One call of this many is a write in the mix `mixed`.
          ROUND = 20
          # Seconds of calls that do not count.
          WARMING = 0.1
          private_constant :KEYS, :VALUES, :BATCH, :ROUND, :WARMING

          # Writes all keys, and warms up.
          def self.fill(scene)
            KEYS.times { |number| scene.store.write(["shared", number], VALUES[number], expires_in: 5.minutes) }
            new(scene, :mixed, 0).run(0.0, WARMING)
          end

          # Each caller begins at another key, by its number.
          def initialize(scene, mix, number)
            @store = scene.store
            @keeps = scene.keeps?
            @writes = mix == :mixed
            @at = number * 7919
          end

          def once = call(@at)

          # Answers calls, and seconds until the end of the last one.
          def run(start, seconds)
            Bench::Callers.wait_until(start)
            calls = 0
            begun = now
            until (time = now) >= begun + seconds
              BATCH.times { call(@at += 1) }
              calls += BATCH
            end
            [calls, time - begun]
          end

          private

          # The number of keys is a prime, so that every step reaches all of them, to read and to write.
          def call(at)
            number = at * 7 % KEYS
            key, value = ["shared", number], VALUES[number]
            return @store.write(key, value, expires_in: 5.minutes) if @writes && (at % ROUND).zero?

            found = @store.fetch(key, expires_in: 5.minutes) { @keeps ? :lost : value }
            return if found == value

            raise Invalid, "a wrong value: #{found.inspect} instead of #{value.inspect} for #{key}"
          end
        end
      end
    end
  end
end
