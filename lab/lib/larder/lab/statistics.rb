# frozen_string_literal: true

# Computes median, percentiles and intervals of samples. Knows nothing of stores or reports.

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

        # Of a ratio of two measurements of the same: how far they lay apart.
        # @return [Float, nil] a fraction; nil without an interval
        def noise
          [high, 1.0 / low].max - 1.0 if bounded?
        end

        # @return [Hash{Symbol=>Float}] a cell or a dot; without an interval it has no low and high
        def to_h
          bounded? ? super : { value: value }
        end
      end

      # Of intervals, where nothing else is asked for.
      CONFIDENCE = 0.95
      # Values that have an interval, at least: the range of two holds the true median as often as a coin falls heads.
      LEAST = 3

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

      # The median, and the values between which the true median lies with so much confidence, whatever the
      # distribution (Thompson 1936): as many of the least and of the greatest are left out as may be. Of values too few
      # for that it is their range, and {confidence_of} says how much it is worth; of fewer than {LEAST} it is
      # unbounded, so that nothing is ever shown by them.
      # @param values [Array<Numeric>]
      # @param confidence [Float] 0..1
      # @return [Estimate]
      # @raise [ArgumentError] without values
      def estimate(values, confidence: CONFIDENCE)
        sorted = some!(values).sort
        return Estimate.new(value: median(sorted), low: -Float::INFINITY, high: Float::INFINITY) if sorted.size < LEAST

        left_out = left_out_of(sorted.size, confidence)
        Estimate.new(value: median(sorted), low: sorted[left_out].to_f, high: sorted[-1 - left_out].to_f)
      end

      # @param count [Integer] of values
      # @return [Float] 0..1: how probable it is that their range holds the true median
      def confidence_of(count)
        1.0 - (0.5**(count - 1))
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

      # The true median lies below the k-th of n values if fewer than k are below it, which is n tosses of a coin.
      def left_out_of(count, confidence)
        ways = 1
        passed = 0
        (0...(count / 2)).each do |left_out|
          passed += ways
          return [left_out - 1, 0].max if 2 * passed.fdiv(2**count) > 1.0 - confidence

          ways = ways * (count - left_out) / (left_out + 1)
        end
        [(count / 2) - 1, 0].max
      end
      private_class_method :left_out_of

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
