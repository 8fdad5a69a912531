# frozen_string_literal: true

# The time that deadlines and pauses are measured by.

module Larder
  # A clock that is never set.
  # @api private
  module MonotonicClock
    private

    # @return [Float] seconds
    def monotonic_now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
