# frozen_string_literal: true

# Owns how what stands beside sessions is kept: never evicted where there is room, and evictable rather than not at all.

require_relative "errors"

module Larder
  module Sessions
    # Counters, marks and settings are worth having also where a file is full of those who are signed in.
    module Pinning
      # @yieldparam pin [Boolean] true, and false where no room could be made for that
      # @return [Object] the block's value
      def self.as_room_allows
        yield true
      rescue ::Larder::FullError
        yield false
      end
    end
  end
end
