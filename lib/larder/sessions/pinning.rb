# frozen_string_literal: true

# Pins entries that should never be evicted, and stores them evictable if the file has no room for that.

require_relative "errors"

module Larder
  module Sessions
    # For counters, tombstones and settings, which are useful also in a full file.
    module Pinning
      # @yieldparam pin [Boolean] true, and false after a FullError
      # @return [Object] the block's value
      def self.as_room_allows
        yield true
      rescue ::Larder::FullError
        yield false
      end
    end
  end
end
