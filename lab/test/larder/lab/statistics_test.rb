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
        %i[mean median spread estimate].each do |function|
          assert_raises(ArgumentError, function.to_s) { Statistics.public_send(function, []) }
        end
      end

      test "the interval of equal values is that value" do
        estimate = Statistics.estimate([2.0] * 5)
        assert_equal [2.0, 2.0, 2.0], [estimate.value, estimate.low, estimate.high]
      end

      test "the interval holds the median, stays within the values and can be repeated" do
        values = [1.0, 1.1, 1.2, 1.3, 9.0]
        estimate = Statistics.estimate(values)
        assert_equal 1.2, estimate.value
        assert_operator estimate.low, :<=, 1.2
        assert_operator estimate.high, :>=, 1.2
        assert_includes 1.0..9.0, estimate.low
        assert_includes 1.0..9.0, estimate.high
        assert_equal estimate, Statistics.estimate(values)
      end

      test "the interval leaves out as many values at each end as it may, which is a matter of tossing coins" do
        # Of a table of the sign test: values, and how many of them at each end are beyond the interval.
        { 3 => 0, 5 => 0, 6 => 0, 8 => 0, 9 => 1, 11 => 1, 12 => 2, 15 => 3, 20 => 5, 25 => 7 }
          .each do |count, beyond|
          estimate = Statistics.estimate((1..count).to_a.shuffle(random: Random.new(count)))
          assert_equal [1.0 + beyond, count.to_f - beyond], [estimate.low, estimate.high], count
        end
      end

      test "one value or two have no interval, and nothing is shown by them" do
        [[3.0], [2.0, 4.0]].each do |values|
          estimate = Statistics.estimate(values)
          assert_equal [-Float::INFINITY, Float::INFINITY], [estimate.low, estimate.high]
          assert_equal({ value: 3.0 }, estimate.to_h)
          assert_nil estimate.noise
        end
      end

      test "the interval holds the true median at least as often as it says, that of few values as often as is said" do
        random = Random.new(1)
        { 3 => 0.75, 5 => 0.9375, 7 => 0.95, 15 => 0.95 }.each do |count, often|
          held = Array.new(2_000) do
            estimate = Statistics.estimate(Array.new(count) { random.rand })
            (estimate.low..estimate.high).cover?(0.5)
          end
          assert_operator held.count(true) / 2_000.0, :>, often - 0.03
          assert_in_delta often, Statistics.confidence_of(count), 1e-12 if count < 6
        end
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
