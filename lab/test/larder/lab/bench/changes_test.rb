# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/changes"
require "support/simulated_turns"

module Larder
  module Lab
    module Bench
      # Two simulated runs of 26 measures each.
      class ChangesTest < ActiveSupport::TestCase
        SEEDS = (0...200)
        MEASURES = 26
        # The standard deviation of a session's logarithm: as in SimulatedTurns with six passes.
        NOISE = 0.015

        test "equal runs of 26 measures show a difference in at most 8 of 200 comparisons" do
          alarms = SEEDS.count { |seed| changes(seed).any? { |change| change.verdict != :alike } }
          assert_operator alarms, :<=, 8
        end

        test "a measure of 26 that became 1.1 times as slow is found, and no other" do
          found = SEEDS.map { |seed| changes(seed, 1.1).reject { |change| change.verdict == :alike } }
          right = found.count { |shown| shown.map { |change| [change.key, change.verdict] } == [[7, :slower]] }
          assert_operator right, :>=, 180
        end

        test "a measure that became faster is said to be faster" do
          change = changes(3, 1 / 1.3).find { |each| each.key == 7 }
          assert_equal :faster, change.verdict
          assert_operator change.high, :<, 1.0
        end

        test "a change below the allowed ratio is not reported, and a greater one is" do
          assert_equal [0, 200], [1.05, 1.3].map { |factor|
            SEEDS.count { |seed| changes(seed, factor, allowed: 1.1).any? { |change| change.verdict == :slower } }
          }
        end

        test "a change of the smallest detectable size is found in seven of ten comparisons or more" do
          size = Stats.median(SEEDS.first(30).map { |seed| changes(seed).first.detectable })
          found = SEEDS.count { |seed| changes(seed, size).find { |each| each.key == 7 }.verdict == :slower }
          assert_operator found, :>=, 140
        end

        test "measures that only one run has, or that have too few sessions, are left out" do
          all = Changes.between({ 1 => [0.0] * 6, 2 => [0.0] * 6, 3 => [0.0, 0.1] }, { 1 => [0.0] * 6, 3 => [0.0] * 6 })
          assert_equal [[1, :alike]], all.map { |change| [change.key, change.verdict] }
        end

        private

        # The seventh measure takes `factor` times as long in the second run.
        def changes(seed, factor = 1.0, **options)
          random = Random.new(seed)
          sides = [1.0, factor].map do |slowed|
            (1..MEASURES).to_h do |key|
              [key, Array.new(6) { (key == 7 ? Math.log(slowed) : 0.0) + (NOISE * normal(random)) }]
            end
          end
          Changes.between(*sides, **options)
        end

        # Box and Muller, 1958.
        def normal(random) = Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)
      end
    end
  end
end
