# frozen_string_literal: true

require "test_helper"
require "larder/cli/interval"

module Larder
  module CLI
    class IntervalTest < ActiveSupport::TestCase
      test "times have a unit, or are seconds" do
        { "1s" => 1, "500ms" => 0.5, "5" => 5, "1.5s" => 1.5, "5m" => 300, "2min" => 120, "1h" => 3600 }
          .each { |text, seconds| assert_in_delta seconds, Interval.new(text).seconds }
      end

      test "others are refused with what is possible" do
        ["0", "50ms", "2h", "-1s", "one", "", "1 s\n"].each do |text|
          error = assert_raises(UsageError) { Interval.new(text) }
          assert_equal "--interval #{text} must be a time from 100ms to 1h, such as 500ms, 1s or 5m", error.message
        end
      end

      test "the block gets the seconds since the last time" do
        times = []
        Interval.new("100ms").each { |seconds| times << seconds and times.size == 2 and break }
        times.each { |seconds| assert_operator seconds, :>, 0 }
        assert_operator times.sum, :>=, 0.2
      end
    end
  end
end
