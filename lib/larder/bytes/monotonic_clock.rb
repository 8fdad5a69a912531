# frozen_string_literal: true

# Clocks that are never set.

module Larder
  # The time that deadlines and pauses are measured by.
  # @api private
  module MonotonicClock
    # For Process.clock_gettime: a clock that all processes of a boot have in common, and that goes on while the machine
    # sleeps. Ruby does not have it on all systems. On macOS the monotonic clock is such a clock.
    BOOT = defined?(Process::CLOCK_BOOTTIME) ? Process::CLOCK_BOOTTIME : Process::CLOCK_MONOTONIC

    private

    # @return [Float] seconds
    def monotonic_now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
