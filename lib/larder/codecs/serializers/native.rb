# frozen_string_literal: true

# Larder's own format, written and read in C: see ext/larder/value/tree_format.h, and lib/larder/codecs/tree.rb for the
# known classes.

require "larder/larder"
require "larder/codecs/tree"

module Larder
  module Serializers
    # Takes a fraction of Marshal's time for text, numbers, Arrays and Hashes. Also takes Times, decimals, Sets,
    # Structs, records and other types that Rails caches. Makes no objects of other classes.
    class Native
      RUNS_CODE = false
      MAKES_OBJECTS = true

      # @param trusted [Boolean] may files be loaded for the classes that are named in its bytes?
      def initialize(trusted: false)
        @trusted = trusted
      end

      # @return [String]
      # @raise [Larder::UnserializableError]
      def dump(value)
        Tree.dump(value, true) || raise(
          UnserializableError, "native cannot write a value of #{Cacheable.class_of(value)}, or something in it; " \
                               ":marshal can"
        )
      end

      # @param kept [Array<Array<Object>>, nil] what a Cacheable::Mixture kept of the value
      # @return [Object]
      # @raise [Larder::UnreadableError]
      def load(payload, kept = nil)
        found = Tree.load(payload, @trusted, kept)
        found ? found.first : raise(UnreadableError, "damaged, or of a class that is not there")
      end
    end
  end
end
