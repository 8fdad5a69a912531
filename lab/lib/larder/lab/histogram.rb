# frozen_string_literal: true

# Counts latencies in buckets, and answers percentiles if there are enough samples for them. The buckets are those of
# HdrHistogram by Gil Tene: powers of two, each divided into as many buckets of the same width.
#
#   0 ... 127 ns    a bucket for each
#   128 ... 255     64 buckets of 2 ns
#   256 ... 511     64 buckets of 4 ns, and so on
#
# The middle of a bucket stands for all that is in it, so no percentile is further off than half a bucket, 1/128.

module Larder
  module Lab
    # Counts of nanoseconds.
    class Histogram
      # Buckets of a power of two, as bits: 64.
      BITS = 6
      # No percentile is further than this from the one of the samples themselves, relative to it.
      RELATIVE_ERROR = 1.0 / 128
      # Samples that must lie beyond a percentile for it to mean anything.
      BEYOND = 10
      SECONDS = 1e-9

      # @return [Integer] samples
      attr_reader :count
      # @return [Integer, nil] nanoseconds of the shortest, exactly; nil without samples
      attr_reader :min
      # @return [Integer, nil] nanoseconds of the longest, exactly; nil without samples
      attr_reader :max
      # @return [Integer] nanoseconds of all together
      attr_reader :sum

      # @param hash [Hash{String=>Object}] as {#to_h} made it, after a trip through JSON
      # @return [Histogram]
      def self.from_h(hash)
        new.tap { |histogram| histogram.restore(**hash.transform_keys(&:to_sym)) }
      end

      # @param hashes [Array<Hash{String=>Object}>] see {.from_h}
      # @return [Histogram] a new one of all their samples
      def self.restored(hashes)
        merge(hashes.map { |hash| from_h(hash) })
      end

      # @param histograms [Enumerable<Histogram>]
      # @return [Histogram] a new one of all their samples
      def self.merge(histograms)
        histograms.each_with_object(new) { |each, all| all.merge(each) }
      end

      # How many samples a percentile needs.
      # @param share [Float] 0.999 for p99.9
      # @return [Integer]
      def self.needed(share)
        (BEYOND / (1 - exactly(share))).ceil
      end

      # 0.9999 as a Float is a little less or more, which would be one sample less or more.
      # @param share [Float]
      # @return [Rational]
      def self.exactly(share)
        share.rationalize(Rational(1, 1_000_000_000))
      end

      def initialize
        @counts = []
        @count = 0
        @sum = 0
      end

      # @param nanoseconds [Integer] 0 or more; less, from a clock that went back, counts as 0
      # @return [void]
      def record(nanoseconds)
        nanoseconds = 0 if nanoseconds.negative?
        shift = nanoseconds.bit_length - BITS - 1
        shift = 0 if shift.negative?
        index = (shift << BITS) + (nanoseconds >> shift)
        @counts[index] = (@counts[index] || 0) + 1
        @count += 1
        @sum += nanoseconds
        @min = nanoseconds if @min.nil? || nanoseconds < @min
        @max = nanoseconds if @max.nil? || nanoseconds > @max
      end

      # @param other [Histogram] whose samples are added
      # @return [self]
      def merge(other)
        add(other.counts, count: other.count, sum: other.sum, min: other.min, max: other.max)
        self
      end

      # @param share [Float] 0.999 for p99.9
      # @return [Boolean] whether enough samples lie beyond it
      def enough?(share)
        count >= self.class.needed(share)
      end

      # What this share of the samples did not exceed.
      # @param share [Float] 0.999 for p99.9; less than 1
      # @return [Float, nil] seconds; nil if there are too few samples
      def percentile(share)
        quantile(share) if enough?(share)
      end

      # The same without asking for enough samples, for curves.
      # @param share [Float] 0..1
      # @return [Float, nil] seconds; nil without samples
      def quantile(share)
        return if count.zero?

        rank = [(self.class.exactly(share) * count).ceil, 1].max
        each_bucket { |nanoseconds, amount| return nanoseconds * SECONDS if (rank -= amount) <= 0 }
      end

      # @return [Float, nil] seconds
      def mean
        sum * SECONDS / count unless count.zero?
      end

      # @return [Hash{Symbol=>Object}] plain data; buckets that hold something as [index, samples]
      def to_h
        { buckets: counts.to_a, count: count, sum: sum, min: min, max: max }
      end

      # Adds plain data.
      # @return [void]
      def restore(buckets:, count:, sum:, min:, max:)
        add(buckets, count: count, sum: sum, min: min, max: max)
      end

      protected

      # Buckets that hold something: [index, samples], in order.
      def counts
        @counts.each_with_index.filter_map { |amount, index| [index, amount] if amount }
      end

      private

      def add(buckets, count:, sum:, min:, max:)
        buckets.each { |index, amount| @counts[index] = (@counts[index] || 0) + amount }
        @count += count
        @sum += sum
        @min = [@min, min].compact.min
        @max = [@max, max].compact.max
      end

      # The middle of every bucket, but nothing that is less than the shortest or more than the longest sample.
      def each_bucket
        @counts.each_with_index do |amount, index|
          yield middle(index).clamp(@min, @max), amount if amount
        end
      end

      def middle(index)
        shift = [(index >> BITS) - 1, 0].max
        low = (index - (shift << BITS)) << shift
        low + (((1 << shift) - 1) / 2.0)
      end
    end
  end
end
