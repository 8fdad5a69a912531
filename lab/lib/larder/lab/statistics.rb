# frozen_string_literal: true

# Computes mean, median and percentiles of samples. Knows nothing of stores or reports.

module Larder
  module Lab
    # Plain functions over arrays of numbers. None changes its argument.
    module Statistics
      # A point estimate and the interval around it.
      Estimate = Struct.new(:value, :low, :high, keyword_init: true) do
        # @return [Boolean] are there enough values behind it to say between which ones the true value lies?
        def bounded?
          high.finite?
        end

        # @return [Hash{Symbol=>Float}] a cell or a dot; without an interval it has no low and high
        def to_h
          bounded? ? super : { value: value }
        end
      end

      module_function

      # @param values [Array<Numeric>]
      # @return [Float]
      # @raise [ArgumentError] without values
      def mean(values)
        some!(values).sum.fdiv(values.size)
      end

      # @param values [Array<Numeric>]
      # @return [Float] the middle value, or the mean of the two in the middle
      # @raise [ArgumentError] without values
      def median(values)
        percentile(values, 50)
      end

      # @param values [Array<Numeric>]
      # @param percent [Numeric] 0..100
      # @return [Float] linear interpolation between the closest ranks
      # @raise [ArgumentError] without values, or with a percentage outside 0..100
      def percentile(values, percent)
        raise ArgumentError, "percentile must be within 0..100, not #{percent}" unless (0..100).cover?(percent)

        of_sorted(some!(values).sort, percent)
      end

      # How far the values lie apart, relative to their median.
      # @param values [Array<Numeric>]
      # @return [Float] (max - min) / median
      # @raise [ArgumentError] without values
      def spread(values)
        (some!(values).max - values.min) / median(values)
      end

      def some!(values)
        raise ArgumentError, "no values" if values.empty?

        values
      end
      private_class_method :some!

      def of_sorted(sorted, percent)
        rank = percent / 100.0 * (sorted.size - 1)
        below = sorted[rank.floor]
        (below + ((sorted[rank.ceil] - below) * (rank - rank.floor))).to_f
      end
      private_class_method :of_sorted
    end
  end
end
