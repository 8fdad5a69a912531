# frozen_string_literal: true

module Larder
  module Lab
    # Counts latencies in buckets, and answers percentiles if there are enough samples for them. The buckets are those
    # of HdrHistogram by Gil Tene: each power of two from 128 ns on has 64 buckets of the same width, and each
    # nanosecond below has a bucket. The middle of a bucket stands for all that is in it, so no percentile is further
    # off than half a bucket, 1/128.
    # @api private
    class Histogram
      # Buckets of a power of two, as bits: 64.
      BITS = 6
      # Samples that must lie beyond a percentile for it to mean anything.
      BEYOND = 10
      SECONDS = 1e-9

      # Samples, the nanoseconds of all together, and of the shortest and the longest, exactly (nil without samples).
      attr_reader :count, :sum, :min, :max

      def self.from_h(hash) = new.add(**hash.transform_keys(&:to_sym))

      # A new one of all samples of a figure of processes, each a Hash that {to_h} made, after a trip through JSON.
      def self.of(processes, name = "histogram") = merge(processes.map { |process| from_h(process[name]) })

      def self.merge(histograms) = histograms.each_with_object(new) { |each, all| all.add(**each.to_h) }

      # How many samples a percentile needs.
      def self.needed(share) = (BEYOND / (1 - exactly(share))).ceil

      # 0.9999 as a Float is a little less or more, which would be one sample less or more.
      def self.exactly(share) = share.rationalize(Rational(1, 1_000_000_000))

      def initialize
        @counts = Hash.new(0) # by the least nanoseconds of a bucket
        @count = 0
        @sum = 0
      end

      # Less than 0, from a clock that went back, counts as 0.
      def record(nanoseconds)
        nanoseconds = 0 if nanoseconds.negative?
        @counts[nanoseconds >> spread(nanoseconds) << spread(nanoseconds)] += 1
        @count += 1
        @sum += nanoseconds
        @min = nanoseconds if @min.nil? || nanoseconds < @min
        @max = nanoseconds if @max.nil? || nanoseconds > @max
      end

      # What this share of the samples did not exceed.
      # Answers seconds; nil if there are too few samples.
      def percentile(share)
        quantile(share) if count >= self.class.needed(share)
      end

      # The same without asking for enough samples, for curves.
      # Answers seconds; nil without samples. A middle is never beyond the shortest or the longest sample.
      def quantile(share)
        return if count.zero?

        rank = [(self.class.exactly(share) * count).ceil, 1].max
        least, = @counts.sort.find { |_, amount| (rank -= amount) <= 0 }
        (least + (((1 << spread(least)) - 1) / 2.0)).clamp(min, max) * SECONDS
      end

      # The seconds of the longest; nil without samples.
      def slowest = max && (max * SECONDS)

      def mean
        sum * SECONDS / count unless count.zero?
      end

      # Plain data; buckets that hold something as [least nanoseconds, samples].
      def to_h = { buckets: @counts.sort, count: count, sum: sum, min: min, max: max }

      # Adds plain data, and answers itself.
      def add(buckets:, count:, sum:, min:, max:)
        buckets.each { |least, amount| @counts[least] += amount }
        @count += count
        @sum += sum
        @min = [@min, min].compact.min
        @max = [@max, max].compact.max
        self
      end

      private

      # The width of a number's bucket, as bits.
      def spread(nanoseconds) = [nanoseconds.bit_length - BITS - 1, 0].max
    end
  end
end
