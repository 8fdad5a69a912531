# frozen_string_literal: true

# Rates of a cache: the differences of two readings of its counts.

module Larder
  module Inspection
    # Calls of a cache per second.
    Rates = Struct.new(:hits, :misses, :stores, :evictions) do
      # @param before [Hash] of {Cache#stats}
      # @param after [Hash] as before, later
      # @param seconds [Float] between them
      # @return [Rates]
      def self.between(before, after, seconds)
        changes = [:hits, :misses, :sets, :evictions].map { |key| [before.fetch(key), after.fetch(key)] }
        changes.map! { |_, count| [0, count] } if changes.any? { |old, count| count < old } # the file was replaced
        new(*changes.map { |old, count| (count - old) / seconds })
      end

      # @return [Float]
      def reads
        hits + misses
      end

      # @return [Float, nil] 0.0 to 1.0; nil: nothing was read
      def hit_ratio
        hits / reads if reads.positive?
      end
    end
  end
end
