# frozen_string_literal: true

require "test_helper"
require_relative "../../bench/support/median"

module Bench
  class MedianTest < ActiveSupport::TestCase
    test "the median of an even number of values lies between the two in the middle" do
      assert_equal [2.0, 2.5], [[3, 1, 2], [4, 1, 3, 2]].map { |values| Median.estimate(values).value }
    end

    test "the interval leaves out as many values at each end as it may, which is a matter of tossing coins" do
      { 5 => 0, 6 => 0, 8 => 0, 9 => 1, 12 => 2, 20 => 5 }.each do |count, left_out|
        estimate = Median.estimate((1..count).to_a.shuffle(random: Random.new(1)))
        assert_equal [left_out + 1.0, (count - left_out).to_f], [estimate.low, estimate.high], count
      end
    end

    test "one value or two have no interval" do
      assert_equal [[1.0, nil, nil], [1.5, nil, nil]], [[1], [1, 2]].map { |values| Median.estimate(values).to_a }
    end

    test "the interval holds the true median at least as often as it says" do
      random = Random.new(7)
      held = Array.new(2000) { Median.estimate(Array.new(11) { random.rand }) }
                  .count { |estimate| (estimate.low..estimate.high).cover?(0.5) }
      assert_operator held / 2000.0, :>=, 0.94
    end

    test "ratios are taken round by round, and rounds that do not pair are refused" do
      assert_equal [2.0, 0.5], Median.paired_ratios([4, 1], [2, 2])
      assert_equal "2 values cannot be paired with 1",
                   assert_raises(ArgumentError) { Median.paired_ratios([1, 2], [1]) }.message
    end
  end
end
