# frozen_string_literal: true

# How far a change has come that the journal lists.

require "securerandom"
require "larder/bytes/monotonic_clock"

module Larder
  module Remote
    class Outbox
      # The value of each record of a List: a letter, a time and random bytes. So no two are the same, and a record
      # can be swapped for one of the same length.
      #
      # - fresh: the remote store has not got the change.
      # - repeated: it has got the change, and gets it once more at the time. A write that was sent before, and whose
      #   caller has given it up, may arrive until then.
      # - late: an operation on the key was given up and may arrive. If the key is changed until the time, the change
      #   is repeated. An operation on a key that is fresh or repeated begins that state again.
      #
      # The clock runs while the machine sleeps, and starts at 0 when the machine does. A time that is too far away is
      # of an earlier start: it is over.
      # @api private
      module State
        # No change is listed.
        NONE = "\0" * 17
        # Seconds between a change and its repetition. The network and the server deliver in that time what they kept.
        REPEATED_AFTER = 5
        # Seconds within which an operation that was given up is expected to arrive.
        EXPECTED_FOR = 600
        FRESH = "f"
        REPEATED = "r"
        LATE = "l"
        # In the order of what they wait for.
        LETTERS = [LATE, REPEATED, FRESH].freeze
        private_constant :FRESH, :REPEATED, :LATE, :LETTERS

        module_function

        # @return [String]
        def fresh
          FRESH + SecureRandom.bytes(16)
        end

        # @return [String]
        def repeated
          at(REPEATED, now + (REPEATED_AFTER * 1000))
        end

        # @return [String]
        def late
          at(LATE, now + (EXPECTED_FOR * 1000))
        end

        # @param before [String, nil] the state of a key
        # @return [String] its state when an operation on it was given up
        def expected(before)
          return fresh if fresh?(before)

          repeated?(before) ? repeated : late
        end

        # @param before [String, nil] the state of a change
        # @param state [String] another state of it
        # @return [String] the one that waits for more; the second if both do
        def stronger(before, state)
          order = ->(value) { [LETTERS.index(value[0]), fresh?(value) ? 0 : time(value)] }
          return state if before.to_s.empty? || (order.call(before) <=> order.call(state)) < 1

          before
        end

        # @param states [Array<String>]
        # @return [String] one that is due when the first of them is, and none of them; {NONE}: there are none
        def first(states)
          states -= [NONE]
          return NONE if states.empty?

          states.any? { |state| fresh?(state) } ? fresh : at(REPEATED, states.map { |state| time(state) }.min)
        end

        # @param value [String, nil]
        # @return [Boolean]
        def fresh?(value)
          value.to_s.start_with?(FRESH)
        end

        # @param value [String, nil]
        # @return [Boolean]
        def repeated?(value)
          value.to_s.start_with?(REPEATED)
        end

        # @param value [String, nil]
        # @return [Boolean]
        def late?(value)
          value.to_s.start_with?(LATE)
        end

        # @param value [String]
        # @return [Boolean] is there anything to do?
        def due?(value)
          return fresh?(value) unless repeated?(value) || late?(value)

          !(now...(now + (EXPECTED_FOR * 1000) + 1)).cover?(time(value) - 1)
        end

        def at(letter, time)
          [letter, time, SecureRandom.bytes(8)].pack("aQ<a8")
        end

        def time(value)
          value.unpack1("@1Q<")
        end

        def now
          Process.clock_gettime(MonotonicClock::BOOT, :millisecond)
        end
        private_class_method :at, :time, :now
      end
    end
  end
end
