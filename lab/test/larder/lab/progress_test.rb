# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class ProgressTest < ActiveSupport::TestCase
      test "a tenth of the steps has a line with the time that is left" do
        out = StringIO.new
        progress = Progress.new(out)
        progress.start("measuring", 30, "step", 65)
        30.times { |number| progress.step("step #{number}") }
        first, second, *others = out.string.lines(chomp: true)
        assert_equal ["measuring: 30 steps, about 1 min 5 s", "  1/30, 1 min 5 s left, step 0"], [first, second]
        assert_equal ["  4/30, 1 s left, step 3", 9], [others.first, others.size]
      end
    end
  end
end
