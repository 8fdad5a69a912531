# frozen_string_literal: true

require_relative "../probe"

module Larder
  module Lab
    module Features
      # What time does to a value. The clock runs while other questions are asked.
      class Times < Probe
        # See {Probe}.
        QUESTIONS = %w[expires expires_within_a_second race_condition_ttl].freeze
        # Seconds.
        LIFE = 1
        SHORT_LIFE = 0.4
        # Seconds after the end of a life.
        AFTERWARDS = 0.2
        # Attempts to read before a short life is over, on a busy machine.
        ATTEMPTS = 5

        # Writes what will expire.
        # @return [void]
        def begin
          store.write("expiring", "v", expires_in: LIFE)
          @there = seen?("expiring", "v")
          begin_race if @there
        ensure
          @ends = now + LIFE + AFTERWARDS
        end

        # Is a value gone after its time?
        def expires
          return [false, "what is written cannot be read"] unless @there

          wait_until(@ends)
          gone = store.read("expiring").nil?
          [gone, "after #{LIFE} s it #{gone ? "is gone" : "is still there"}"]
        end

        # The same for less than a second.
        def expires_within_a_second
          ATTEMPTS.times do
            started = now
            store.write("short", "v", expires_in: SHORT_LIFE)
            there = seen?("short", "v")
            next if now - started > SHORT_LIFE / 2
            return [false, "a life of #{SHORT_LIFE} s is none: it is gone at once"] unless there

            sleep SHORT_LIFE + AFTERWARDS
            gone = store.read("short").nil?
            return [gone, "after #{SHORT_LIFE} s it #{gone ? "is gone" : "is still there"}"]
          end
          [nil, "the machine is too busy to read within #{SHORT_LIFE} s"]
        end

        # While one process renews an expired value, do others get the old one?
        def race_condition_ttl
          raise @trouble if @trouble
          return [false, "what is written cannot be read"] unless @there

          wait_until(@ends)
          meanwhile = nil
          renewed = store.fetch("raced", race_condition_ttl: 60, expires_in: 60) do
            meanwhile = store.read("raced")
            "new"
          end
          return [true, "while it was renewed, others read the old value"] if [meanwhile, renewed] == %w[old new]

          [false, "while it was renewed, others read #{meanwhile.inspect}"]
        end

        private

        # What fails here is the answer to the question about it.
        def begin_race
          store.write("raced", "old", expires_in: LIFE, race_condition_ttl: 60)
        rescue StandardError => error
          @trouble = error
        end
      end
    end
  end
end
