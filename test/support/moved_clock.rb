# frozen_string_literal: true

# Puts the clocks that measure pauses forward, so that a test need not wait until a pause is over.

require "larder/remote/backplane/deadline"

# The clocks of this process, and of children that it forks from then on. The engine's clock and the time of day stay as
# they are, and so does the backplane's clock: the engine gets its times, and would trust no copy if they were ahead. A
# clock is never put back: whatever has read it would wait for longer.
module MovedClock
  CLOCKS = [Process::CLOCK_MONOTONIC, (Process::CLOCK_BOOTTIME if defined?(Process::CLOCK_BOOTTIME))].compact.freeze
  # Parts of a second, by their names in Process.clock_gettime.
  PER_SECOND = { nil => 1.0, float_second: 1.0, float_millisecond: 1e3, float_microsecond: 1e6,
                 second: 1, millisecond: 1_000, microsecond: 1_000_000, nanosecond: 1_000_000_000 }.freeze
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

  # Before Deadline.now of the backplane.
  module Unmoved
    def now
      super - MovedClock.ahead(Process::CLOCK_MONOTONIC, nil)
    end
  end
  Larder::Remote::Backplane::Deadline.singleton_class.prepend(Unmoved)
end
