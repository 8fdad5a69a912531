# frozen_string_literal: true

# How long a call may take, and how long ago something was.

module Larder
  module Store
    class Backplane
      # Seconds that a call of the application waits for the server at most, and the listener for an answer.
      DEADLINE = 2

      # A time in the future, which a call passes on to all that it calls.
      # @api private
      class Deadline
        # @param seconds [Numeric]
        # @return [Deadline] so many seconds from now
        def self.in(seconds)
          new(now + seconds)
        end

        # @return [Float] seconds of a clock that is never set
        def self.now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
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

      # A time in the past.
      # @api private
      class Moment
        # One clock stands still while the machine is suspended, another one may be set back: the longest time counts.
        CLOCKS = %i[CLOCK_MONOTONIC CLOCK_BOOTTIME CLOCK_REALTIME].filter_map do |name|
          Process.const_get(name) if Process.const_defined?(name)
        end
        private_constant :CLOCKS

        # It is now.
        def initialize
          @times = times
        end

        # @return [Float] seconds since then, 0 at least
        def age
          times.zip(@times).map { |now, before| now - before }.max
        end

        private

        def times
          CLOCKS.map { |clock| Process.clock_gettime(clock) }
        end
      end
    end
  end
end
