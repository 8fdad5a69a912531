# frozen_string_literal: true

# Medians and percentiles, with intervals.

module Soak
  # A median and the interval in which the true one lies in 95 of 100 cases, from its order statistics.
  Estimate = Struct.new(:low, :middle, :high) do
    # @param values [Array<Numeric>]
    # @return [Estimate]
    def self.of(values)
      sorted = values.sort
      half = 0.98 * Math.sqrt(sorted.size)
      middle = sorted.size / 2.0
      new(sorted[[(middle - half).floor, 0].max], Estimate.median(sorted),
          sorted[[(middle + half).ceil, sorted.size - 1].min])
    end

    # @param sorted [Array<Numeric>]
    # @return [Float]
    def self.median(sorted)
      (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
    end

    # @param other [Estimate]
    # @return [Estimate] of the quotient
    def /(other)
      Estimate.new(low / other.high, middle / other.middle, high / other.low)
    end

    # @return [String] "+1.2 % (-0.5 to +2.9)" of a ratio
    def to_s
      format("%+.1f %% (%+.1f to %+.1f)", *[middle, low, high].map { |ratio| (ratio - 1) * 100 })
    end
  end
end
