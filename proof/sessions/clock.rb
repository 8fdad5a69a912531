# frozen_string_literal: true

# The clock of the proof over `cache:`. The store lets its entries expire by the world's time, and the model by this
# one. So it goes on by no less than the world's in any stretch of time, however fast operations have been before.

module SessionProof
  # The world's time, and a second more for each {PACE} operations.
  class Clock
    PACE = 20

    # @param world [#call] Unix seconds, of a clock that is never set back
    # @yieldreturn [Integer] operations until now
    def initialize(world = self.class.world, &operations)
      @world = world
      @operations = operations
    end

    # @return [#call] Unix seconds of now, and from here on by the monotonic clock
    def self.world
      began = Process.clock_gettime(Process::CLOCK_REALTIME) - Process.clock_gettime(Process::CLOCK_MONOTONIC)
      -> { began + Process.clock_gettime(Process::CLOCK_MONOTONIC) }
    end

    # @return [Integer] Unix seconds
    def now
      (@world.call + @operations.call.fdiv(PACE)).to_i
    end
  end
end
