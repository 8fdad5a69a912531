# frozen_string_literal: true

# Puts the clocks that measure pauses forward, so that a test need not wait until a pause is over.

# The clocks of this process, and of children that it forks from then on. The engine's clock and the time of day stay as
# they are. A clock is never put back: whatever has read it would wait for longer.
module MovedClock
  CLOCKS = [Process::CLOCK_MONOTONIC, (Process::CLOCK_BOOTTIME if defined?(Process::CLOCK_BOOTTIME))].compact.freeze
  # Parts of a second, by their names in Process.clock_gettime.
  PER_SECOND = { float_second: 1.0, millisecond: 1000 }.freeze
  private_constant :CLOCKS, :PER_SECOND

  @ahead = 0

  # @param seconds [Integer]
  # @return [void]
  def self.forward(seconds)
    @ahead += seconds
  end

  # @return [Numeric] how far a clock is ahead
  def self.ahead(clock, unit)
    CLOCKS.include?(clock) ? @ahead * PER_SECOND.fetch(unit) : 0
  end

  # Before Process.clock_gettime.
  module Reading
    def clock_gettime(clock, unit = :float_second)
      now = super
      now + MovedClock.ahead(clock, unit)
    end
  end
  Process.singleton_class.prepend(Reading)
end
