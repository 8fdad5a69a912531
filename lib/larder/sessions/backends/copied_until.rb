# frozen_string_literal: true

# Notes in a file of Larder's until when a store behind it got copies.

module Larder
  module Sessions
    module Backends
      # An entry of the file. Programs without the store learn from it which sessions may have copies.
      class CopiedUntil
        KEY = "copied"
        # Seconds that a note is ahead, so that it is seldom written.
        AHEAD = 60
        private_constant :KEY, :AHEAD

        # @param cache [Larder::Cache]
        def initialize(cache)
          @cache = cache
        end

        # @return [Integer, nil] Unix seconds: sessions that began later have no copies; nil: none has
        def time
          @cache.get(KEY)&.to_i
        end

        # Called before the store gets a copy.
        #
        # @param file [File]
        # @return [void]
        def note(file)
          now = Time.now.to_i
          file.set(KEY, (now + AHEAD).to_s, nil) unless time.to_i > now + (AHEAD / 2)
        end
      end
    end
  end
end
