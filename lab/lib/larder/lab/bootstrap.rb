# frozen_string_literal: true

# Owns the exact bootstrap distribution of a median: what resampling would find if it never ended. With as few values as
# a run has rounds it can be counted (Maritz and Jarrett 1978, Efron 1979), so nothing is drawn and nothing is random.

module Larder
  module Lab
    # Distributions as Arrays of [value, probability], ascending.
    module Bootstrap
      # More values than these are thinned to so many quantiles: their pairs would be too many to count.
      MOST = 100
      # Probabilities are sums of many; what is less apart than this is alike.
      TINY = 1e-12

      module_function

      # @param values [Array<Numeric>] at least one
      # @return [Array<Array(Float, Float)>] the medians of all samples of as many, drawn with replacement
      def medians(values)
        sorted = thinned(values.sort)
        sorted.size.odd? ? odd(sorted) : even(sorted)
      end

      # @param numerators [Array<Array(Float, Float)>]
      # @param denominators [Array<Array(Float, Float)>] independent of them
      # @return [Array<Array(Float, Float)>] their quotients; without those of 0 and 0
      def quotients(numerators, denominators)
        pairs = numerators.product(denominators).map { |(over, p), (under, q)| [over.fdiv(under), p * q] }
        pairs.reject { |value, _| value.nan? }.sort_by(&:first)
      end

      # @param distribution [Array<Array(Float, Float)>]
      # @param share [Float] 0..1
      # @return [Float] the least value that so large a share does not exceed
      def quantile(distribution, share)
        passed = 0.0
        total = distribution.sum(&:last)
        found = distribution.find { |_, probability| (passed += probability) >= (share * total) - TINY }
        (found || distribution.last).first.to_f
      end

      # @param count [Integer]
      # @param chosen [Integer]
      # @return [Integer] in how many ways so many are chosen
      def choose(count, chosen)
        (1..chosen).reduce(1) { |product, i| product * (count - chosen + i) / i }
      end

      # The middle one is at most the k-th value if more than half of the drawn ones are.
      def odd(sorted)
        count = sorted.size
        middle = (count + 1) / 2
        up_to = at_least(count, middle)
        sorted.each_with_index.map { |value, at| [value, up_to[at + 1] - up_to[at]] }
      end
      private_class_method :odd

      # The mean of the two in the middle: the lower half of the drawn ones ends at one value, the upper half begins at
      # another, or both at the same.
      def even(sorted)
        count = sorted.size
        half = count / 2
        ways = choose(count, half)
        ends = (0...count).map { |i| (i + 1).fdiv(count)**half - i.fdiv(count)**half }
        begins = (0...count).map { |j| (count - j).fdiv(count)**half - (count - j - 1).fdiv(count)**half }
        apart = (0...count).to_a.combination(2).map do |i, j|
          [(sorted[i] + sorted[j]) / 2.0, ways * ends[i] * begins[j], i]
        end
        (apart.map { |value, probability, _| [value, probability] } + same(sorted, half, apart)).sort_by(&:first)
      end
      private_class_method :even

      # That the lower one is the i-th value, less that the upper one is another.
      def same(sorted, half, apart)
        count = sorted.size
        up_to = at_least(count, half)
        other = apart.group_by(&:last).transform_values { |each| each.sum { |_, probability, _| probability } }
        sorted.each_with_index.map { |value, i| [value, up_to[i + 1] - up_to[i] - other.fetch(i, 0.0)] }
      end
      private_class_method :same

      # How probable it is that at least so many of the drawn are among the first k, for k from none to all.
      def at_least(count, successes)
        ways = (successes..count).to_h { |k| [k, choose(count, k)] }
        (0..count).map do |first|
          chance = first.fdiv(count)
          ways.sum { |k, each| each * (chance**k) * ((1.0 - chance)**(count - k)) }
        end
      end
      private_class_method :at_least

      def thinned(sorted)
        return sorted if sorted.size <= MOST

        Array.new(MOST) { |i| sorted[((i + 0.5) * sorted.size / MOST).floor] }
      end
      private_class_method :thinned
    end
  end
end
