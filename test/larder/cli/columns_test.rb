# frozen_string_literal: true

require "test_helper"
require "larder/cli/columns"

module Larder
  module CLI
    class ColumnsTest < ActiveSupport::TestCase
      NAMES = ["users", "views/admin/dashboards/_figure"].freeze

      def table
        Columns.new("name", NAMES).add("reads", ["12", "1,204"]).add("", ["±3 %", nil], gap: 1, extra: 1)
               .add("none", [nil, nil]).add("age", [nil, "3h12m"], extra: 2)
      end

      test "figures are right-aligned, and columns without figures are left out" do
        assert_equal ["  name                            reads         age",
                      "  users                              12 ±3 %",
                      "  views/admin/dashboards/_figure  1,204       3h12m"], table.lines(80)
      end

      test "names are cut, and then the figures that are extra left out" do
        assert_equal ["  name              reads         age", "  users                12 ±3 %",
                      "  views/ad…_figure  1,204       3h12m"], table.lines(37)
        assert_equal ["  name               reads", "  users                 12 ±3 %", "  views/ad…/_figure  1,204"],
                     table.lines(31)
        assert_equal 37, table.least_width
      end

      test "text at the end is cut where the terminal ends" do
        lines = Columns.new("time", ["10:41"]).add("reads", ["7"]).text("misses", ["views/admin/_figure"]).lines(31)
        assert_equal ["  time   reads  misses", "  10:41      7  views/a…_figure"], lines
      end
    end
  end
end
