# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Reports
      class Html
        class TablesTest < ActiveSupport::TestCase
          test "headings and first cells are headers, numbers end and intervals begin in one line" do
            interval = { "value" => 19.1, "low" => 18.2, "high" => 20.0, "same" => true }
            html = table([{ title: "" }, { title: "times", format: "ratio" }, { title: "µs", format: "micros" }],
                         [["a", interval, 1.31e-6], ["b", "1", nil]])
            assert_includes html, "<th scope=\"col\" colspan=\"2\">times</th><th scope=\"col\">µs</th>"
            assert_includes html, "<th scope=\"row\">a</th><td data-label=\"times\">19.1</td>" \
                                  "<td class=\"range\">(18.2–20.0) " \
                                  "<abbr title=\"no difference is shown\">≈</abbr></td>" \
                                  "<td data-label=\"µs\">1.31</td>"
            assert_includes html, "<th scope=\"row\">b</th><td data-label=\"times\">1</td><td class=\"range\"></td>" \
                                  "<td data-label=\"µs\">–</td>"
          end

          test "a row that says why runs to the edge, and words among numbers stand to the left" do
            html = table([{ title: "" }, { title: "µs", format: "micros" }, { title: "disk", format: "bytes" }],
                         [["a", "not measured: none"], ["b", "never hits", 12_000]])
            assert_includes html, "<td colspan=\"2\" class=\"rest\">not measured: none</td>"
            assert_includes html, "<td class=\"text\" data-label=\"µs\">never hits</td>" \
                                  "<td data-label=\"disk\">12.0\u00A0kB</td>"
          end

          test "neighbours of a group have a heading of their own" do
            html = table([{ title: "" }, { title: "µs", group: "hit" }, { title: "µs", group: "miss" }], [["a", 1, 2]])
            assert_includes html, "<th scope=\"colgroup\" colspan=\"1\" class=\"group\">hit</th>"
            assert_includes html, "<td class=\"first\" data-label=\"miss, µs\">2.00</td>"
          end

          test "a figure has the color of its verdict, and a time with its unit stands among numbers" do
            cells = %w[slower faster alike].map { |verdict| { "value" => 2.0, "verdict" => verdict } }
            html = table([{ title: "" }, { title: "times", format: "ratio" }],
                         [*cells.map { |cell| ["a", cell] }, ["b", "1.8 µs"]])
            assert_equal %w[own warning soft], html.scan(/<td class="tone-(\w+)"/).flatten
            assert_includes html, "<td data-label=\"times\">1.8\u00A0µs</td><td class=\"range\"></td>"
          end

          test "Larder's row stands out" do
            html = table([{ title: "" }], [["larder"], ["a"]])
            assert_includes html, "<tr class=\"own\"><th scope=\"row\">larder</th>"
            html = table([{ title: "size" }, { title: "policy" }], [["1%", "lru"], ["", "larder"]])
            assert_includes html, "<tr class=\"own more\"><td class=\"text\" data-label=\"size\"></td>" \
                                  "<td class=\"text\" data-label=\"policy\">larder</td></tr>"
          end

          private

          def table(columns, rows)
            Tables.new(Document::Table.build(columns: columns, rows: rows), label: "A table").to_html
          end
        end
      end
    end
  end
end
