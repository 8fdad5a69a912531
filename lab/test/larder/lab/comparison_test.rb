# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class ComparisonTest < ActiveSupport::TestCase
      STEP = ["one-thread", "hit"].freeze

      test "ratios come from the same rounds, so a slow round does not disturb them" do
        comparison = compare({ "larder" => [1.0, 5.0, 1.1], "redis" => [2.0, 10.0, 2.2] })
        ratio = comparison.ratio("redis", "larder", *STEP)
        assert_in_delta 2.0, ratio.value, 1e-9
        assert_in_delta 2.0, ratio.low, 1e-9
        assert_in_delta 2.0, ratio.high, 1e-9
      end

      test "the noise is how far two measurements of the same lay apart, in either direction" do
        comparison = compare({ "larder" => [1.0] * 5, "larder (A/A)" => [0.9, 0.9, 1.0, 1.05, 1.05] },
                             twins: ["larder (A/A)", "larder"])
        assert_in_delta (1 / 0.9) - 1, comparison.noise(*STEP), 1e-9
      end

      test "without a second measurement the noise is unknown" do
        assert_nil compare({ "larder" => [1.0, 1.0] }).noise(*STEP)
      end

      test "a difference is shown only beyond the noise" do
        comparison = compare({ "larder" => [1.0] * 5, "larder (A/A)" => [1.1] * 5, "near" => [1.05] * 5,
                               "far" => [1.2] * 5, "fast" => [0.5] * 5 }, twins: ["larder (A/A)", "larder"])
        verdicts = ["near", "far", "fast"].map do |name|
          comparison.verdict(comparison.ratio(name, "larder", *STEP), *STEP)
        end
        assert_equal %i[none slower faster], verdicts
      end

      test "an interval that reaches into the noise shows nothing" do
        comparison = compare({ "larder" => [1.0] * 3, "shaky" => [0.9, 3.0, 5.0] })
        assert_equal :none, comparison.verdict(comparison.ratio("shaky", "larder", *STEP), *STEP)
      end

      test "one round or two show nothing and reach nothing" do
        redis = Targets::ALL.find { |target| target.contender == "redis" }
        { 1 => %i[none open], 2 => %i[none open], 3 => %i[slower reached] }.each do |rounds, (verdict, judgement)|
          comparison = compare({ "larder" => [1.0] * rounds, "redis" => [9.0] * rounds })
          assert_equal verdict, comparison.verdict(comparison.ratio("redis", "larder", *STEP), *STEP), rounds
          assert_equal judgement, comparison.judge(redis).last, rounds
        end
      end

      test "the base is the one asked for, else larder, else what there is" do
        assert_equal "larder", compare({ "memory" => [1.0], "larder" => [1.0] }).base
        assert_equal "memory", compare({ "memory" => [1.0], "larder" => [1.0] }, base: "memory").base
        assert_equal "file", compare({ "file" => [1.0] }).base
      end

      test "a row that was turned down has no ratio and no rank" do
        results = SampleResults.build({ "larder" => [1.0], "redis" => [2.0] })
        results.reject("redis", :invalid, "a wrong value")
        comparison = Comparison.new(results)
        assert_nil comparison.ratio("redis", "larder", *STEP)
        assert_equal ["larder"], comparison.ranking(*STEP).map(&:name)
      end

      test "the fastest ranks first and what keeps nothing last" do
        comparison = compare({ "redis" => [2.0], "null" => [0.1], "larder" => [1.0] })
        assert_equal ["larder", "redis", "null"], comparison.ranking(*STEP).map(&:name)
      end

      private

      def compare(times, twins: [], base: nil)
        results = SampleResults.build(times, base: base)
        results.twins = twins
        Comparison.new(results)
      end
    end
  end
end
