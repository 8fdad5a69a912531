# frozen_string_literal: true

require "test_helper"
require "larder/lab/comparing/change"

module Larder
  module Lab
    module Comparing
      class ChangeTest < ActiveSupport::TestCase
        test "a difference that is none is shown as often as intervals err, and of few pairs more often" do
          { 9 => 0.05, 6 => 0.05, 5 => 0.0625 }.each do |count, error|
            assert_in_delta error, change(count).error, 1e-12, count
          end
        end

        test "what is exact is never shown by chance" do
          assert_equal 0.0, change(5, unit: "bytes").error
        end

        test "as often as is said" do
          random = Random.new(4)
          shown = Array.new(2_000) { change(5, random: random).verdict != :none }
          assert_in_delta 0.0625, shown.count(true) / 2_000.0, 0.02
        end

        test "what was nothing before has no ratio" do
          zero = SampleDocument.measure([0.0])
          assert_equal [nil, :none], Change.new(zero, [0.0] * 5, [1.0] * 5).then { |each| [each.ratio, each.verdict] }
        end

        private

        def change(count, unit: "seconds", random: Random.new(1))
          measure = SampleDocument.measure([1.0])
          measure.unit = unit
          Change.new(measure, *Array.new(2) { Array.new(count) { 1.0 + random.rand } })
        end
      end
    end
  end
end
