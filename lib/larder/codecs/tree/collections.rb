# frozen_string_literal: true

# Ranges, sets, and Hashes that take Symbols for Strings, as parts.

require "larder/larder"
require "larder/codecs/tree/parts"

module Larder
  module Tree
    # What holds others.
    # @api private
    module Collections
      TAKERS = { "Range" => :take_range, "Set" => :take_set,
                 "ActiveSupport::HashWithIndifferentAccess" => :take_indifferent_hash }.freeze

      private

      def take_range(range)
        ends = [range.begin, range.end]
        [RANGE, [*ends, range.exclude_end?]] if Parts.plain?(range) && ends.all?(Parts::RANGE_END)
      end

      def make_range(first, last, without_last)
        Range.new(first, last, without_last)
      end

      def take_set(set)
        [SET, [set.to_a]] if !set.compare_by_identity? && Parts.plain?(set, [:@hash])
      end

      def make_set(members)
        Set.new(members)
      end

      # Keys and values: what it holds is not converted again when it is made.
      def take_indifferent_hash(hash)
        return unless Parts.plain?(hash) && hash.default.nil? && hash.default_proc.nil? && !hash.compare_by_identity? &&
                      hash.keys.none?(Symbol)

        [INDIFFERENT_HASH, [hash.keys, hash.values]]
      end

      def make_indifferent_hash(keys, values)
        return UNREADABLE unless keys.size == values.size

        hash = ActiveSupport::HashWithIndifferentAccess.new
        keys.each_with_index { |key, i| hash.regular_writer(key, values[i]) }
        hash
      end
    end
  end
end
