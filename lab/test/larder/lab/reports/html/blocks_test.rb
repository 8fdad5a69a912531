# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Reports
      class Html
        # Tables and charts of unusual data.
        class BlocksTest < ActiveSupport::TestCase
          D = Document

          test "headings and first cells are headers, and an interval is a part of its cell" do
            interval = { "value" => 19.1, "low" => 18.2, "high" => 20.0, "same" => true }
            html = table([{ title: "" }, { title: "times", format: "ratio" }, { title: "µs", format: "micros" }],
                         [["a", interval, 1.31e-6], ["b", "1", nil]])
            assert_includes html, "<th scope=\"col\">times</th><th scope=\"col\">µs</th>"
            assert_includes html, "<th scope=\"row\">a</th><td data-label=\"times\">19.1" \
                                  "<span class=\"range\"> (18.2–20.0) " \
                                  "<abbr title=\"no difference is shown\">≈</abbr></span></td>" \
                                  "<td data-label=\"µs\">1.31</td>"
            assert_includes html, "<td data-label=\"times\">1<span class=\"range\"></span></td>" \
                                  "<td data-label=\"µs\">–</td>"
          end

          test "a row that says why runs to the edge, and neighbours of a group have a heading of their own" do
            html = table([{ title: "" }, { title: "µs", format: "number", group: "hit" },
                          { title: "µs", format: "number", group: "miss" }],
                         [["a", 1, 2], ["b", "not measured: none"]])
            assert_includes html, "<td class=\"rest\" colspan=\"2\">not measured: none</td>"
            assert_includes html, "<th scope=\"colgroup\" colspan=\"1\" class=\"group\">hit</th>"
            assert_includes html, "<td class=\"first\" data-label=\"miss, µs\">2.00</td>"
          end

          test "a figure has the color of its verdict, and Larder's row stands out" do
            cells = %w[slower faster alike].map { |verdict| { "value" => 2.0, "verdict" => verdict } }
            html = table([{ title: "" }, { title: "times", format: "ratio" }], cells.map { |cell| ["a", cell] })
            assert_equal %w[own warning soft], html.scan(/<td class="tone-(\w+)"/).flatten
            html = table([{ title: "" }, { title: "policy" }], [["larder", ""], ["a", "lru"], ["", "larder"]])
            assert_equal %w[own own], html.scan(/<tr class="([^"]+)"/).flatten
          end

          test "twelve lines differ without colour, and the one that stands out is unbroken" do
            series = ["larder", *("a".."l")].map { |name| { "label" => name, "points" => [[1, 2], [2, 3]] } }
            dashes = curves(series).scan(/<path d="M[\d L]+" class="\w+"(?: stroke-dasharray="([^"]+)")?/).flatten
            assert_nil dashes.first
            assert_equal 13, dashes.uniq.size
          end

          test "charts without anything to show are drawn all the same" do
            [[], [["a", "why"]], [["a", nil]], [["a", { "value" => 0.0 }]]].each do |rows|
              assert_match(/<table/, plotted(rows))
            end
            assert_match(/<svg/, curves([]))
            unknown = [[], [[1, nil]]].map { |points| { "label" => "a", "points" => points } }
            assert_match(/<svg/, curves(unknown, scale: "log"))
          end

          test "of many samples few are drawn" do
            drawn = plotted([["a", { "value" => 500, "dots" => (1..5000).to_a }]])
            assert_operator drawn.scan("<circle").size, :<=, 1002
          end

          private

          def table(columns, rows)
            Table.new(D::Table.new(columns: columns, rows: rows), label: "A table").to_html
          end

          def plotted(rows) = table([{ title: "" }, { title: "time", format: "seconds", plot: "log" }], rows)

          def curves(series, **axis)
            Lines.new(D::Curves.new(title: "", sentence: "", x: {}, y: axis, series: series)).to_html
          end
        end
      end
    end
  end
end
