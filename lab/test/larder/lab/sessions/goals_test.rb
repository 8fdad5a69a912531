# frozen_string_literal: true

require "test_helper"
require "larder/lab/sessions/goals"

module Larder
  module Lab
    module Sessions
      class GoalsTest < ActiveSupport::TestCase
        # A part of a run with one ratio for all rows.
        Part = Struct.new(:low, :high) do
          def ratios_of(_page)
            self
          end

          def estimate(_name)
            Statistics::Estimate.new(value: (low + high) / 2, low: low, high: high)
          end
        end
        Run = Struct.new(:plan)
        Plan = Struct.new(:contenders)

        test "a target is reached only if the whole interval lies at or above it" do
          { [6.0, 9.0] => "reached", [5.9, 9.0] => "not shown", [1.0, 5.9] => "not reached" }.each do |ends, words|
            assert_equal words, verdict(Part.new(*ends))
          end
        end

        private

        def verdict(part)
          run = Run.new(Plan.new(["memcached"]))
          run.define_singleton_method(:measured?) { |_name| true }
          section = Goals.new({ "work" => part }, run).section
          section.blocks.first.rows.find { |row| row.first == "work of memcached" }.last
        end
      end
    end
  end
end
