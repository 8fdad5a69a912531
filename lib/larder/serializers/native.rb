# frozen_string_literal: true

# Larder's own bytes, made and read in C: see ext/larder/value/tree_format.h, and lib/larder/tree.rb for the known
# classes.

require "larder/larder"
require "larder/tree"

module Larder
  module Serializers
    # Text, numbers, Arrays and Hashes in a fraction of Marshal's time; Times, decimals, Sets, Structs, records and what
    # else Rails caches. Makes objects of no other classes.
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
          UnserializableError, "native knows no way for a value of #{Cacheable.class_of(value)}, or for something in " \
                               "it; :marshal does"
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
