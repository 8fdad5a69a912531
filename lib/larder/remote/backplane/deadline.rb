# frozen_string_literal: true

# How long a call may take.

module Larder
  module Remote
    class Backplane
      # Seconds that a call of the application waits for the server at most, and the listener for an answer.
      DEADLINE = 2

      # A time in the future, which a call passes on to all that it calls.
      # @api private
      class Deadline
        # @param seconds [Numeric]
        # @return [Deadline] that many seconds from now
        def self.in(seconds)
          new(now + seconds)
        end

        # @return [Float] seconds of a clock that is never set
        def self.now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # @return [Array(Float, Float)] the time now, for Larder::Cache#trust_for
        def self.moment
          [now, Process.clock_gettime(Process::CLOCK_REALTIME)]
        end

        def initialize(at)
          @at = at
        end

        # @return [Float] seconds, 0 at least
        def left
          [@at - Deadline.now, 0.0].max
        end

        # @return [Boolean]
        def over?
          left.zero?
        end

        # @param parts [Integer]
        # @return [Deadline] of the first of equal parts of what is left
        def part(parts)
          Deadline.in(left / parts)
        end
      end
    end
  end
end
