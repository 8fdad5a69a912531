# frozen_string_literal: true

# Owns the arithmetic of samples: median, percentiles, bootstrap intervals. Knows nothing of stores or reports.

require_relative "bootstrap"

module Larder
  module Lab
    # Plain functions over arrays of numbers. None changes its argument.
    module Statistics
      # A point estimate and the interval around it.
      Estimate = Struct.new(:value, :low, :high, keyword_init: true) do
        # Of a ratio of two measurements of the same: how far they lay apart.
        # @return [Float] a fraction
        def noise
          [high, 1.0 / low].max - 1.0
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

      # The median with a percentile bootstrap interval. With few values the interval honestly becomes their range.
      # @param values [Array<Numeric>]
      # @param confidence [Float] 0..1
      # @return [Estimate]
      # @raise [ArgumentError] without values
      def bootstrap(values, confidence: 0.95)
        interval(median(some!(values)), Bootstrap.medians(values), confidence)
      end

      # The quotient of the medians of two independent sets, each resampled by itself.
      # @param numerators [Array<Numeric>]
      # @param denominators [Array<Numeric>]
      # @param confidence [Float] 0..1
      # @return [Estimate]
      # @raise [ArgumentError] without values
      def bootstrap_ratio(numerators, denominators, confidence: 0.95)
        ratios = Bootstrap.quotients(Bootstrap.medians(some!(numerators)), Bootstrap.medians(some!(denominators)))
        interval(median(numerators) / median(denominators), ratios, confidence)
      end

      # Element by element quotients: what two contenders took in the same round.
      # @param numerators [Array<Numeric>]
      # @param denominators [Array<Numeric>] as many
      # @return [Array<Float>]
      # @raise [ArgumentError] if the sizes differ
      def paired_ratios(numerators, denominators)
        unless numerators.size == denominators.size
          raise ArgumentError, "#{numerators.size} values cannot be paired with #{denominators.size}"
        end

        numerators.zip(denominators).map { |numerator, denominator| numerator.fdiv(denominator) }
      end

      def interval(value, distribution, confidence)
        tail = (1.0 - confidence) / 2.0
        Estimate.new(value: value, low: Bootstrap.quantile(distribution, tail),
                     high: Bootstrap.quantile(distribution, 1.0 - tail))
      end
      private_class_method :interval

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
