# frozen_string_literal: true

# Owns the arithmetic of samples: median, percentiles, bootstrap intervals. Knows nothing of stores or reports.

module Larder
  module Lab
    # Plain functions over arrays of numbers. None changes its argument.
    module Statistics
      # Resamplings behind one bootstrap interval.
      RESAMPLES = 4_000

      # A point estimate and the interval around it.
      Estimate = Struct.new(:value, :low, :high, keyword_init: true)

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
      # @param seed [Integer] so that a report can be made again from the same samples
      # @param confidence [Float] 0..1
      # @return [Estimate]
      # @raise [ArgumentError] without values
      def bootstrap(values, seed: 0, confidence: 0.95)
        random = Random.new(seed)
        some!(values)
        medians = Array.new(RESAMPLES) { resampled_median(values, random) }.sort!
        tail = (1.0 - confidence) / 2.0 * 100.0
        Estimate.new(value: median(values), low: of_sorted(medians, tail), high: of_sorted(medians, 100.0 - tail))
      end

      # The quotient of the medians of two independent sets, each resampled by itself.
      # @param numerators [Array<Numeric>]
      # @param denominators [Array<Numeric>]
      # @param seed [Integer]
      # @param confidence [Float] 0..1
      # @return [Estimate]
      # @raise [ArgumentError] without values
      def bootstrap_ratio(numerators, denominators, seed: 0, confidence: 0.95)
        random = Random.new(seed)
        value = median(numerators) / median(denominators)
        ratios = Array.new(RESAMPLES) do
          resampled_median(numerators, random).fdiv(resampled_median(denominators, random))
        end.reject(&:nan?).sort!
        tail = (1.0 - confidence) / 2.0 * 100.0
        Estimate.new(value: value, low: of_sorted(ratios, tail), high: of_sorted(ratios, 100.0 - tail))
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

      # The median of as many values, drawn with replacement. Thousands of these make one interval.
      def resampled_median(values, random)
        count = values.size
        drawn = Array.new(count) { values[random.rand(count)] }.sort!
        middle = count / 2
        count.odd? ? drawn[middle] : (drawn[middle - 1] + drawn[middle]) / 2.0
      end
      private_class_method :resampled_median

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
