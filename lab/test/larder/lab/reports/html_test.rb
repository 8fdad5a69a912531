# frozen_string_literal: true

require "test_helper"
require "nokogiri"

module Larder
  module Lab
    module Reports
      class HtmlTest < ActiveSupport::TestCase
        test "text is escaped wherever it comes from" do
          html = page(hostile("<script>alert(1)</script>&\"'\u0000"))
          refute_includes html, "<script"
          assert_operator html.scan("&lt;script&gt;alert(1)&lt;/script&gt;&amp;").size, :>=, 18
          assert_empty malformed(html)
        end

        test "a page is well-formed XML and asks for nothing" do
          html = page(SampleDocument.build)
          assert_empty malformed(html)
          refute_match(/<script|<link|<img|@import|url\(/, html)
          assert_equal ["http://www.w3.org/1999/xhtml"], html.scan(%r{\w+://[^"]+}).uniq.sort
          assert_includes html, "default-src 'none'"
        end

        test "a drawing stands next to its figures, and lines have theirs below" do
          html = page(SampleDocument.build)
          assert_match(%r{<th scope="row">file</th><td class="plot" aria-hidden="true"><svg.+?</svg></td><td [^>]+>32},
                       html)
          assert_includes html, "<td class=\"rest\" colspan=\"3\">dragonfly is not on the PATH"
          assert_match(/<svg[^>]+ role="img" aria-label="Time of a read" aria-describedby="chapter-1-1-3"/, html)
          assert_match(%r{<p id="chapter-1-1-3">Larder’s p99.9 is 3.8.µs.</p>.+<details>.+<table.+</details>}m, html)
        end

        test "no two elements have the same id, and every link leads to one" do
          html = page(SampleDocument.build(chapters: 3))
          ids = html.scan(/ id="([^"]+)"/).flatten
          assert_equal ids.uniq, ids
          assert_empty html.scan(/href="#([^"]+)"/).flatten - ids
          assert_empty html.scan(/aria-(?:labelled|described)by="([^"]+)"/).flatten.flat_map(&:split) - ids
        end

        test "the head says what was run, when and where, and the findings come before the sections" do
          html = page(SampleDocument.build)
          words = ["larder-lab stores", "2026-03-04 12:30 UTC", "2 cores", "12 min 34 s", "Findings</h2>",
                   "Warnings</h2>", "Hits</h2>", "Where it was measured</h2>", "How to read it</h2>"]
          places = words.map { |each| html.index(each) || flunk("#{each} is missing") }
          assert_equal places.sort, places
        end

        test "a page with an answer begins with it, and has its warnings once" do
          html = page(SimulatedRuns.overview(busy: 9.0, turn: 0.05))
          assert_empty malformed(html)
          front = html[0, html.index("id=\"findings\"")]
          words = [Document::QUESTION, "One server</h2>", "Several servers</h2>", "Sessions</h2>", "class=\"plotted\"",
                   "Other work was", "<code>larder-lab overview --quick --seed 7</code>", "Contents</h2>",
                   "Caches in Rails applications</a>"]
          places = words.map { |each| front.rindex(each) || flunk("#{each} is missing") }
          assert_equal places.sort, places
          assert_match(%r{<strong>[\d.]+ <span class="whole">\([\d.–]+\)</span> times as long</strong>}, html)
          assert_equal 2, html.scan("Other work was running").size # one for each chapter
          assert_match(%r{<details id="\S+" class="fold"><summary>Page of ten fragments</summary>}, html)
        end

        test "of several chapters the contents have the first finding and warnings, and one that failed says so" do
          html = page(SampleDocument.build(chapters: 2))
          assert_match(%r{number 2</a> <small>failed, 1 warning</small> <span>Larder’s hit takes 1\.10}, html)
          assert_equal 1, html.scan("This run failed").size
        end

        test "a document without anything in it is a page" do
          [[], [Document::Chapter.new(key: "stores", title: "Stores")]].each do |chapters|
            document = Document.new(command: "all", chapters: chapters, environment: {}, elapsed_seconds: 0.0)
            assert_empty malformed(page(document))
          end
        end

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

        def page(document) = Html.new(document).to_s

        def malformed(html) = Nokogiri::XML(html).errors

        def hostile(text)
          d = Document
          table = d::Table.new(caption: text, columns: [{ title: text }, { title: text, plot: "log" }],
                                 rows: [[text, { "value" => 1 }], [text, text], [text]], notes: [text])
          lines = d::Curves.new(title: text, sentence: text, x: { title: text }, y: { title: text },
                                  series: [{ "label" => text, "points" => [[1, 2]] }])
          blocks = [lines, table, d::Prose.new(text: text), d::Code.new(text: text)]
          chapter = d::Chapter.new(key: text, title: text, lead: text, facts: [text], conclusions: [text],
                                   warnings: [text], answer: { "sentences" => [{ "about" => text, "text" => text }] },
                                   sections: [d::Section.new(title: text, blocks: blocks)])
          d.new(command: text, chapters: [chapter], elapsed_seconds: 1,
                environment: { "cpu" => text, "time" => text, text => text })
        end

        def table(columns, rows)
          Html::Table.new(Document::Table.new(columns: columns, rows: rows), label: "A table").to_html
        end

        def plotted(rows) = table([{ title: "" }, { title: "time", format: "seconds", plot: "log" }], rows)

        def curves(series, **axis)
          Html::Lines.new(Document::Curves.new(title: "", sentence: "", x: {}, y: axis, series: series)).to_html
        end
      end

      class ScaleTest < ActiveSupport::TestCase
        test "a linear scale is divided by 1, 2 and 5, and begins at 0 if that is not far" do
          assert_equal %w[0 50 100 150], labels([37, 111])
          assert_equal %w[1 1.05 1.1 1.15 1.2], labels([1.02, 1.17])
          assert_equal %w[-4 -2 0 2 4 6], labels([-3.1, 5])
          assert_equal %w[0 1 2], labels([1, 2], format: "integer")
        end

        test "a logarithmic scale has decades, 1, 2 and 5 where there is room, and even steps where it is short" do
          assert_equal ["1 µs", "10 µs", "100 µs", "1 ms"], labels([1e-6, 0.9e-3], scale: "log", format: "seconds")
          assert_equal %w[10 20 50 100], labels([12, 90], scale: "log")
          short = scale([0.93, 1.14], scale: "log")
          assert_equal ["time", %w[0.9 0.95 1 1.05 1.1 1.15]], [short.title, short.ticks.map(&:label)]
        end

        test "percentiles lie as far apart as their nines" do
          scale = scale([0.0, 0.9999], scale: "percentile")
          assert_equal %w[p0 p50 p90 p99 p99.9 p99.99], scale.ticks.map(&:label)
          assert_in_delta scale.place(0.99) - scale.place(0.9), scale.place(0.999) - scale.place(0.99), 0.11
          assert_in_delta 100, scale.place(1.0)
        end

        test "places follow values, and never leave the axis" do
          scale = scale([0, 100])
          assert_equal [0, 50, 100, 100, 0], [0, 50, 100, 900, -5].map { |value| scale.place(value) }
          assert_equal 0, scale([0, 1, 1000], scale: "log").place(0)
        end

        test "names differ and have room, whatever the values, the format and the direction" do
          values = [[0, 0], [5, 5], [-2, -2], [1e-9, 1e-9], [0.101, 0.104], [3, 1e12], [0.5, 1e-7, 40], [], [nil, 2]]
          scales = ["linear", "log", "percentile"]
          scales.product(values, Figures::FORMATS.keys, [true, false]) do |kind, given, format, vertical|
            ticks = scale(given, scale: kind, format: format, vertical: vertical).ticks
            assert_equal ticks.map(&:label).uniq, ticks.map(&:label)
            assert_operator ticks.size, :<=, 8
            assert(ticks.all? { |tick| tick.place.between?(0, 100) }, [kind, given, format, ticks].inspect)
          end
        end

        private

        def labels(...) = scale(...).ticks.map(&:label)

        def scale(values, scale: "linear", format: nil, **options)
          Html::Scale.new(Document::Axis.new(title: "time", scale: scale, format: format), values, **options)
        end
      end
    end
  end
end
