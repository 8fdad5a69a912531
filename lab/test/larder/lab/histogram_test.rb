# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class HistogramTest < ActiveSupport::TestCase
      SHARES = [0.5, 0.9, 0.99, 0.999, 0.9999].freeze

      # Latencies of every shape: constant, even, with a long tail, of two kinds, and over the whole range.
      SHAPES = {
        "small numbers" => ->(random) { random.rand(200) },
        "constant" => ->(_) { 123_457 },
        "even" => ->(random) { random.rand(1_000_000) },
        "a long tail" => ->(random) { (1000 / ((1 - random.rand)**2)).floor },
        "of two kinds" => ->(random) { random.rand < 0.99 ? 1300 + random.rand(200) : 4_000_000 + random.rand(10_000) },
        "over the whole range" => ->(random) { 1 << random.rand(50) }
      }.freeze

      SHAPES.each do |name, shape|
        test "percentiles of #{name} are those of the sorted samples, to one part in 128" do
          [1, 2, 3].each do |seed|
            random = Random.new(seed)
            samples = Array.new(20_000 + random.rand(1000)) { shape.call(random) }
            assert_exact samples.sort, histogram(samples)
          end
        end
      end

      test "the shortest, the longest and the sum are exact" do
        histogram = histogram([5, 1_234_567, 77])
        assert_equal [5, 1_234_567, 1_234_649, 3], [histogram.min, histogram.max, histogram.sum, histogram.count]
        assert_in_delta 1_234_649e-9 / 3, histogram.mean
      end

      test "several merged are one of all their samples" do
        random = Random.new(7)
        parts = Array.new(5) { Array.new(random.rand(3000)) { random.rand(1 << random.rand(1..40)) } }
        assert_equal histogram(parts.flatten).to_h, Histogram.merge(parts.map { |part| histogram(part) }).to_h
      end

      test "it comes back from JSON as it went there" do
        [[], [0], [1, 1, 99_999_999]].each do |samples|
          there = histogram(samples).to_h
          assert_equal there, Histogram.from_h(JSON.parse(JSON.generate(there))).to_h
        end
      end

      test "a percentile without ten samples beyond it is none" do
        assert_equal [20, 100, 1000, 10_000, 100_000], SHARES.map { |share| Histogram.needed(share) }
        SHARES.each do |share|
          needed = Histogram.needed(share)
          assert_nil histogram([1] * (needed - 1)).percentile(share)
          assert_equal 1e-9, histogram([1] * needed).percentile(share)
        end
        assert_nil Histogram.new.quantile(0.5)
        assert_nil Histogram.new.mean
      end

      test "what a clock that went back says counts as nothing" do
        assert_equal [0, 1], [histogram([-5]).max, histogram([-5]).count]
      end

      private

      def histogram(samples) = Histogram.new.tap { |histogram| samples.each { |sample| histogram.record(sample) } }

      def assert_exact(sorted, histogram)
        SHARES.each do |share|
          exact = sorted[[(share.rationalize(1e-9.to_r) * sorted.size).ceil - 1, 0].max] * 1e-9
          found = histogram.quantile(share)
          assert_in_delta exact, found, (exact * 1.0 / 128) + 1e-12, "p#{share * 100}"
        end
      end
    end
  end
end
