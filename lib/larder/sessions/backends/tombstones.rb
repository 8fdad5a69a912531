# frozen_string_literal: true

# Owns the marks in a file of Larder's of what was deleted there, while a store may still have a copy.

require_relative "../pinning"

module Larder
  module Sessions
    module Backends
      # What is marked is not reloaded from the store. A deleter sets the mark before it deletes, and who reloads looks
      # for it afterwards: one of the two deletes what came between.
      class Tombstones
        # Before the keys.
        PREFIX = "x/"
        # Seconds that a mark lives where its deleter has reached the store as well, or will.
        REMEMBERED = 7 * 86_400
        # Seconds by which a copy may live longer than what it was made of.
        LATER = 3600
        # Attempts at a mark that is refused, because a lock is not had in time.
        ATTEMPTS = 3
        private_constant :PREFIX, :LATER, :ATTEMPTS

        # @param left [Numeric] seconds, or Float::INFINITY, that what is deleted would have lived
        # @return [Numeric, nil] seconds for which there may be a copy of it, nil: for ever
        def self.beyond(left)
          left + LATER unless left == Float::INFINITY
        end

        # @param cache [Cache]
        def initialize(cache)
          @cache = cache
        end

        # @param key [String]
        # @param life [Numeric, nil] seconds, nil: for ever
        # @param pin [Boolean] it must not be evicted, as far as there is room
        # @return [void]
        def set(key, life: REMEMBERED, pin: true)
          Pinning.as_room_allows do |room|
            ATTEMPTS.times { break if @cache.set(PREFIX + key, "", ttl: life, pin: pin && room) }
          end
        end

        # @param key [String]
        # @return [Boolean]
        def set?(key)
          @cache.exist?(PREFIX + key)
        end
      end
    end
  end
end
