# frozen_string_literal: true

# The native methods of the clock, which are in ext/larder/rails/fast_clock.c.

module Larder
  module Store
    # The time as Rails sees it: Time.now may be stubbed. Expiry is decided twice: Rails' entries compare their time of
    # expiry with Time.now, and the engine drops items by itself. The engine is given this time, so that tests which
    # travel in time move both.
    # @api private
    module Clock
      # @!method self.now
      #   @return [Float] Unix seconds

      # @!method self.now_ms
      #   @return [Integer] Unix milliseconds, at least 1, as the engine counts them
    end
  end
end
