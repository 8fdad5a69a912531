# frozen_string_literal: true

require "test_helper"
require "support/sample_document"
require "larder/lab/comparing/change"

module Larder
  module Lab
    module Comparing
      class ChangeTest < ActiveSupport::TestCase
        test "a difference that is none is shown as often as intervals err, and of few samples more often" do
          { 7 => 0.05, 5 => 0.05, 3 => 0.1, 2 => 1 / 3.0, 1 => 0.0 }.each do |count, error|
            assert_in_delta error, change(count).error, 1e-12, count
          end
        end

        test "what is exact is never shown by chance" do
          assert_equal 0.0, change(3, unit: "bytes").error
        end

        test "as often as is said" do
          random = Random.new(4)
          shown = Array.new(1_000) { change(3, random: random).verdict != :none }
          assert_in_delta 0.1, shown.count(true) / 1_000.0, 0.03
        end

        private

        def change(count, unit: "seconds", random: Random.new(1))
          one, other = Array.new(2) do
            measure = SampleDocument.measure(Array.new(count) { 1.0 + random.rand }, key: "stores/one")
            measure.unit = unit
            measure
          end
          Change.new(one, other)
        end
      end
    end
  end
end
