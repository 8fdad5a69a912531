# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Reports
      class TableTest < ActiveSupport::TestCase
        test "columns are as wide as their widest cell, numbers to the right" do
          table = Table.new(:left, :right).row("a", "1").row("bcd", "100")
          assert_equal ["a      1", "bcd  100"], table.lines(width: 80)
        end

        test "a row with fewer cells runs on and is cut at the edge" do
          table = Table.new(:left, :right, :right).row("a", "1", "2").row("b", "not measured: no such server")
          assert_equal ["a  1  2", "b  not measure…"], table.lines(width: 15)
        end

        test "a group heading stands over its columns and makes room for itself" do
          table = Table.new(:left, :right, :left).groups("a long heading").row("x", "1", "2")
          assert_equal ["   a long heading", "x  1  2"], table.lines(width: 80)
        end
      end
    end
  end
end
