# frozen_string_literal: true

require "test_helper"
require_relative "../../../proof/soak/drift"

module Soak
  class DriftTest < ActiveSupport::TestCase
    test "an interval holds the median" do
      estimate = Estimate.of((1..101).to_a.shuffle(random: Random.new(1)))
      assert_equal 51, estimate.middle
      assert_operator estimate.low, :<, 51
      assert_operator estimate.high, :>, 51
    end

    test "a file as fast as at the start holds" do
      assert_equal :holds, verdict(1.0, 1.01)
    end

    test "a slower one fails, whether in calls a second or in time" do
      assert_equal :fails, verdict(1.0, 0.9)
      assert_equal :fails, verdict(1.0, 1.1, "p999_us")
    end

    test "a faster one holds" do
      assert_equal :holds, verdict(1.0, 1.2)
      assert_equal :holds, verdict(1.0, 0.8, "p999_us")
    end

    test "what was so at the start is no drift" do
      assert_equal :holds, verdict(0.8, 0.8)
    end

    test "a machine on which two fresh files differ decides nothing" do
      assert_equal :undecided, verdict(1.0, 0.9, noise: 1.2)
    end

    test "too few groups decide nothing" do
      assert_equal :undecided, verdict(1.0, 0.9, groups: 5)
    end

    test "intervals that reach both sides of the limit decide nothing" do
      assert_equal :undecided, verdict(1.0, 0.94, spread: 0.2)
    end

    private

    def verdict(before, after, figure = "calls_per_second", noise: 1.0, groups: 40, spread: 0.002)
      Drift.new([figures(before, figure, 1.0, groups, spread)], [figures(after, figure, noise, groups, spread)])
           .lines.first.verdict
    end

    def figures(ratio, figure, noise, groups, spread)
      random = Random.new(9)
      fresh = Array.new(groups) { 100.0 * (1 + (random.rand * spread)) }
      { operation: "get", figure: figure, fresh: fresh, fresh_again: fresh.map { |value| value * noise },
        aged: fresh.map { |value| value * Math.sqrt(noise) * ratio * (1 + (((random.rand * 2) - 1) * spread)) } }
    end
  end
end
