# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class StatisticsTest < ActiveSupport::TestCase
      test "the median of an odd number of values is the middle one" do
        assert_equal 3.0, Statistics.median([5, 1, 3])
      end

      test "the median of an even number of values lies between the two in the middle" do
        assert_equal 2.5, Statistics.median([4, 1, 3, 2])
      end

      test "the argument is not changed" do
        values = [3, 1, 2].freeze
        Statistics.median(values)
        assert_equal [3, 1, 2], values
      end

      test "percentiles interpolate between the closest ranks" do
        values = [15, 20, 35, 40, 50]
        assert_equal 15.0, Statistics.percentile(values, 0)
        assert_in_delta 29.0, Statistics.percentile(values, 40), 1e-9
        assert_in_delta 48.0, Statistics.percentile(values, 95), 1e-9
        assert_equal 50.0, Statistics.percentile(values, 100)
      end

      test "a percentile outside 0..100 is refused" do
        error = assert_raises(ArgumentError) { Statistics.percentile([1], 101) }
        assert_match(/101/, error.message)
      end

      test "mean and spread have their textbook values" do
        values = [2, 4, 4, 4, 5, 5, 7, 9]
        assert_equal 5.0, Statistics.mean(values)
        assert_in_delta 7 / 4.5, Statistics.spread(values), 1e-12
      end

      test "no values are refused everywhere" do
        %i[mean median spread bootstrap].each do |function|
          assert_raises(ArgumentError, function.to_s) { Statistics.public_send(function, []) }
        end
      end

      test "the bootstrap interval of equal values is that value" do
        estimate = Statistics.bootstrap([2.0] * 5)
        assert_equal [2.0, 2.0, 2.0], [estimate.value, estimate.low, estimate.high]
      end

      test "the bootstrap interval holds the median, stays within the values and can be repeated" do
        values = [1.0, 1.1, 1.2, 1.3, 9.0]
        estimate = Statistics.bootstrap(values)
        assert_equal 1.2, estimate.value
        assert_operator estimate.low, :<=, 1.2
        assert_operator estimate.high, :>=, 1.2
        assert_includes 1.0..9.0, estimate.low
        assert_includes 1.0..9.0, estimate.high
        assert_equal estimate, Statistics.bootstrap(values)
      end

      test "the bootstrap interval covers the true median about as often as it says" do
        random = Random.new(1)
        covered = Array.new(200) do
          estimate = Statistics.bootstrap(Array.new(15) { random.rand })
          (estimate.low..estimate.high).cover?(0.5)
        end
        assert_includes 0.86..1.0, covered.count(true) / 200.0
      end

      test "ratios are taken round by round" do
        assert_equal [2.0, 0.5], Statistics.paired_ratios([4, 1], [2, 2])
      end

      test "rounds that do not pair are refused" do
        assert_raises(ArgumentError) { Statistics.paired_ratios([1], [1, 2]) }
      end
    end
  end
end
