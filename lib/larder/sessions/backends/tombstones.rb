# frozen_string_literal: true

# Marks in a file of Larder's what was deleted there while a store may still have a copy.

module Larder
  module Sessions
    module Backends
      # What is marked is not reloaded from the store. A delete sets the mark first, and a reload looks for it last, so
      # one of the two removes an entry that is deleted and reloaded at the same time.
      class Tombstones
        # The prefix of their keys.
        PREFIX = "x/"
        # Seconds to live of a mark if the copy was deleted as well.
        REMEMBERED = 7 * 86_400
        # Seconds by which a copy may outlive its original.
        LATER = 3600
        private_constant :PREFIX, :LATER

        # @param left [Numeric] seconds, or Float::INFINITY, that the original had to live
        # @return [Numeric, nil] seconds that a copy has to live at most, nil: for ever
        def self.beyond(left)
          left + LATER unless left == Float::INFINITY
        end

        # @param file [File]
        def initialize(file)
          @file = file
        end

        # @param key [String]
        # @param left [Numeric] seconds that the original had to live
        # @param most [Numeric, nil] seconds to live of the mark at most
        # @param pin [Boolean] it should not be evicted
        # @return [void]
        def set(key, left, most: nil, pin: true)
          @file.set(PREFIX + key, "", [self.class.beyond(left), most].compact.min, pin: pin)
        end

        # @param key [String]
        # @return [Boolean]
        def set?(key)
          @file.cache.exist?(PREFIX + key)
        end

        # @param key [String]
        # @return [Numeric, nil] seconds that the mark has to live, or Float::INFINITY; nil: there is none
        def ttl(key)
          @file.cache.ttl(PREFIX + key)
        end

        # @return [Enumerator::Lazy<String>] keys that are marked
        def keys
          @file.cache.each_key(prefix: PREFIX).lazy.map { |name| name.byteslice(PREFIX.bytesize..) }
        end
      end
    end
  end
end
