# frozen_string_literal: true

require "test_helper"
require "larder/lab/targets"

module Larder
  module Lab
    class TargetsTest < ActiveSupport::TestCase
      TARGET = Targets::Target.new(contender: "redis", workload: "one-thread", pass: "hit", factor: 4.0)

      test "a target is reached only if the whole interval lies at or above it" do
        assert_equal :reached, judge(4.0, 9.0)
        assert_equal :open, judge(3.9, 9.0)
        assert_equal :missed, judge(1.0, 3.9)
      end

      test "every target names a contender, a workload and a pass that exist" do
        Targets::ALL.each do |target|
          Contenders.fetch(target.contender)
          assert_includes Workloads.fetch(target.workload).passes.map(&:key), target.pass
        end
      end

      private

      def judge(low, high)
        TARGET.judge(Statistics::Estimate.new(value: (low + high) / 2, low: low, high: high))
      end
    end
  end
end
