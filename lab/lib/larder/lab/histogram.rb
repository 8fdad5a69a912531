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
    # @api private
    class Histogram
      # Buckets of a power of two, as bits: 64.
      BITS = 6
      # Samples that must lie beyond a percentile for it to mean anything.
      BEYOND = 10
      SECONDS = 1e-9

      # Samples, the nanoseconds of all together, and of the shortest and the longest, exactly (nil without samples).
      attr_reader :count, :sum, :min, :max

      def self.from_h(hash) = new.tap { |histogram| histogram.restore(**hash.transform_keys(&:to_sym)) }

      # A new one of all samples of a figure of processes, each a Hash that {to_h} made, after a trip through JSON.
      def self.of(processes, name = "histogram") = merge(processes.map { |process| from_h(process[name]) })

      def self.merge(histograms) = histograms.each_with_object(new) { |each, all| all.merge(each) }

      # How many samples a percentile needs.
      def self.needed(share) = (BEYOND / (1 - exactly(share))).ceil

      # 0.9999 as a Float is a little less or more, which would be one sample less or more.
      def self.exactly(share) = share.rationalize(Rational(1, 1_000_000_000))

      def initialize
        @counts = []
        @count = 0
        @sum = 0
      end

      # Less than 0, from a clock that went back, counts as 0.
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

      def merge(other)
        add(other.counts, count: other.count, sum: other.sum, min: other.min, max: other.max)
        self
      end

      # True if enough samples lie beyond it.
      def enough?(share) = count >= self.class.needed(share)

      # What this share of the samples did not exceed.
      # Answers seconds; nil if there are too few samples.
      def percentile(share)
        quantile(share) if enough?(share)
      end

      # The same without asking for enough samples, for curves.
      # Answers seconds; nil without samples.
      def quantile(share)
        return if count.zero?

        rank = [(self.class.exactly(share) * count).ceil, 1].max
        each_bucket { |nanoseconds, amount| return nanoseconds * SECONDS if (rank -= amount) <= 0 }
      end

      # The seconds of the longest; nil without samples.
      def slowest = max && (max * SECONDS)

      def mean
        sum * SECONDS / count unless count.zero?
      end

      # Plain data; buckets that hold something as [index, samples].
      def to_h = { buckets: counts.to_a, count: count, sum: sum, min: min, max: max }

      # Adds plain data.
      def restore(buckets:, count:, sum:, min:, max:) = add(buckets, count: count, sum: sum, min: min, max: max)

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
