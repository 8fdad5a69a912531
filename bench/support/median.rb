# frozen_string_literal: true

# Computes medians of rounds with their intervals, and ratios within rounds.

module Bench
  # Plain functions over arrays of numbers. None changes its argument.
  module Median
    # The median, and the values between which the true median lies.
    Estimate = Struct.new(:value, :low, :high, keyword_init: true)
    CONFIDENCE = 0.95
    # Values that have an interval, at least: the range of two holds the true median as often as a coin falls heads.
    LEAST = 3

    module_function

    # The median with its interval, whatever the distribution (Thompson 1936): as many of the least and of the greatest
    # values are left out as may be. If the values are too few for the confidence, the interval is their range. Fewer
    # than {LEAST} values have none: `low` and `high` are nil.
    # @param values [Array<Numeric>] at least one
    # @param confidence [Float] 0..1
    # @return [Estimate]
    def estimate(values, confidence: CONFIDENCE)
      sorted = values.sort
      median = (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
      return Estimate.new(value: median) if sorted.size < LEAST

      left_out = left_out_of(sorted.size, confidence)
      Estimate.new(value: median, low: sorted[left_out].to_f, high: sorted[-1 - left_out].to_f)
    end

    # @param numerators [Array<Numeric>] of the rounds
    # @param denominators [Array<Numeric>] of the same rounds
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
  end
end
