# frozen_string_literal: true

require "test_helper"
require "larder/lab/loads/ratios"

module Larder
  module Lab
    module Loads
      class RatiosTest < ActiveSupport::TestCase
        SAMPLES = { "larder" => [1.0, 1.1, 1.0], "larder (A/A)" => [1.1, 1.0, 1.05], "redis" => [20, 21, 22.0],
                    "file" => [1.0, 1.05, 1.1], "slow" => [5.0, nil, 5.0] }.freeze

        test "a row is a measure beside the reference loop, and what has no samples is none" do
          redis, slow = %w[redis slow].map { |row| make(SAMPLES).measure(row, "a hit") { |name| "hit/#{name}" } }
          assert_equal ["hit/redis", "redis: a hit", "seconds", "lower", SAMPLES["redis"], "reference"], redis.to_a
          assert_nil slow
        end

        test "ratios are of the same rounds, to larder, and say whether they clear the noise" do
          ratios = make(SAMPLES)
          assert_equal "larder", ratios.base
          cell = ratios.cell("redis")
          assert_in_delta 20.0, cell["value"], 0.1
          assert_equal false, cell["same"]
          assert_equal true, ratios.cell("file")["same"]
          assert_match(/\Aratio 1\.\d+ \(\d.*\)\z/, Ratios.not_shown(ratios.cell("file")))
          assert_in_delta 0.1, ratios.noise, 0.01
        end

        test "a row without a sample of every round has no ratio" do
          assert_nil make(SAMPLES).cell("slow")
          assert_nil make(SAMPLES).median("slow")
          refute_includes make(SAMPLES).ranking, "slow"
        end

        test "one round or two have neither an interval nor a difference" do
          [1, 2].each do |rounds|
            ratios = make({ "larder" => [1.0] * rounds, "redis" => [20.0] * rounds })
            assert_equal({ "value" => 20.0, "same" => true }, ratios.cell("redis"))
            assert_equal "ratio 20.0 of too few rounds for an interval", Ratios.not_shown(ratios.cell("redis"))
            assert_equal({ "value" => 20.0 }, ratios.median("redis"))
            assert_nil ratios.noise
          end
        end

        test "without samples there is nothing to compare" do
          assert_nil make({ "a" => [] }, []).base
          assert_nil make({ "a" => [] }, []).cell("a")
        end

        private

        def make(samples, twins = ["larder (A/A)", "larder"])
          Ratios.new(samples, twins: twins, seed: 1)
        end
      end
    end
  end
end
