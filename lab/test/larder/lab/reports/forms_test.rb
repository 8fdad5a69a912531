# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Reports
      # The same document in every form.
      class FormsTest < ActiveSupport::TestCase
        test "the terminal gets aligned tables that fit" do
          wide = text(SampleDocument.build, 100)
          assert_match(/^ +µs  times +on disk$/, wide)
          assert_match(/^  a +1\.31  1 +12\.3 MB$/, wide)
          assert_match(/^  b +25\.0  19\.1 \(18\.2–20\.0\) +–$/, wide)
          assert_match(/^  c  not measured: none$/, wide)
        end

        test "a table that is too wide for the terminal goes on below, with its first column" do
          titles = ["", *("a".."f").map { |letter| "column #{letter} of the table" }]
          lines = lines(80, titles, ["row", *(1..6).map { |at| "cell #{at}" }])
          assert_equal 2, lines.grep(/^row  cell/).size
          assert_includes lines, "row  cell 4                 cell 5                 cell 6"
          assert_operator lines.map(&:size).max, :<=, 80
        end

        test "it goes on with two columns where the first one does not tell its rows apart" do
          columns = ["codec", "store", *%w[read write].map { |title| { title: title, format: "number" } }]
          assert_equal ["codec  store   read", "json   redis   1.00", "json   larder  2.00", "",
                        "codec  store   write", "json   redis    3.00", "json   larder   4.00"],
                       lines(20, columns, ["json", "redis", 1, 3], ["json", "larder", 2, 4])
        end

        test "a row that says why runs on and is cut at the edge, and a group has a heading over its columns" do
          assert_equal ["   x  y", "a  1  2", "b  not measure…"],
                       lines(15, ["", "x", "y"], ["a", "1", "2"], ["b", "not measured: no such server"])
          columns = [{ title: "" }, { title: "first", group: "hits" }, { title: "warm", group: "hits" }]
          assert_equal ["      hits", "   first  warm", "a  1      2"], lines(80, columns, ["a", "1", "2"])
          columns = ["", *%w[a b].map { |title| { title: title, group: "as published", format: "number" } }]
          assert_equal ["   as published", "      a       b", "x  1.00    2.00"], lines(80, columns, ["x", 1, 2])
        end

        test "figures end in one place, also with a drawing, which a terminal goes without" do
          column = { title: "µs", format: "micros", plot: "log" }
          assert_equal ["     µs", "a  1.00", "b   250"],
                       lines(80, ["", column], ["a", { "value" => 1e-6, "dots" => [2e-6] }],
["b", { "value" => 250e-6 }])
        end

        test "findings come first, then warnings, tables and the environment with the command" do
          text = text(SampleDocument.build, 80)
          places = ["Stores", "Findings", "Warnings", "Hits", "Environment"].map { |title| text.index(/^#{title}$/) }
          assert_equal places.sort, places
          assert_match(/^  - larder-lab stores$/, text)
        end

        test "the answer is the first thing in the terminal, with its warnings" do
          document = SimulatedRuns.overview(busy: 9.0)
          text = text(document, 80)
          assert text.start_with?("#{Document::QUESTION}\n  - One server: A page of ten fragments takes ")
          places = ["  - Several", "  - Sessions:", "Warnings", "Caches in Rails"].map { |each| text.index(/^#{each}/) }
          assert_equal places.sort, places
          assert_match(/^  Redis +7\d % \(\d\d–\d\d %\) +6\d\d µs$/, text)
          assert_equal 2, text.scan("Other work was running").size # one for each chapter
          assert_equal 1, text.scan(%r{^  a/b +published +here}).size # in one piece
          assert_operator text.lines.map { |line| line.chomp.size }.max, :<=, 80
        end

        test "a number and its unit are in one line" do
          document = SampleDocument.build
          document.chapters.first.conclusions = ["#{"word " * 14}12.5 µs"]
          assert_match(/word\n +12\.5 µs$/, text(document, 80))
        end

        test "what came of dividing by nothing does not stop a report" do
          document = SampleDocument.build(figures: [1.0, Float::NAN])
          assert_includes Json.new(document).to_s, "null"
        end

        test "numbers have three significant digits, and units go up by thousands" do
          expected = { 0.0812 => "0.0812", 0.812 => "0.812", 1 => "1.00", 9.996 => "10.0", 28.23 => "28.2",
                       99.96 => "100", 131.4 => "131", 12_345 => "12,300", 0 => "0" }
          assert_equal expected.values, expected.keys.map { |number| Figures.significant(number) }
          assert_equal ["0.812", "12 B", "1.02 kB", "1.00 kB", "1.00 MB", "3.17 Gbit/s", "9.4 %", "28,871 %"],
                       [Figures.text(8.12e-7, "micros"), *[12, 1024, 999.7, 999_950].map { |each| Figures.bytes(each) },
                        Figures.bits(3.17e9), Figures.percent(0.0941), Figures.percent(288.71)]
          assert_equal ["0 s", "0.0500 ns", "1.31 µs", "1.00 ms", "999 ms", "1.00 s", "300 s", "-2.00 ms"],
                       [0, 5e-11, 1.31e-6, 1e-3, 0.9994, 0.9996, 300, -2e-3].map { |each| Figures.duration(each) }
        end

        test "the columns of all suites and all articles have formats that exist" do
          suites = Suites.names.flat_map { |name| Suites.fetch(name).blocks.flat_map(&:columns) }
          articles = Published.articles.each_value.flat_map(&:tables).flat_map(&:columns)
          assert_empty (suites + articles).filter_map(&:format).uniq - Figures::FORMATS.keys
          Figures::FORMATS.each_key { |format| assert_kind_of String, Figures.text(0.5, format) }
        end

        test "a cell is text by the format of its column, also if it is nothing, yes or no" do
          { [0.004, "rate"] => "250", [3_500_000, "megabytes"] => "3.50", [nil, "micros"] => "–", [true] => "yes",
            [Float::NAN, "micros"] => "–", [Float::INFINITY, "micros"] => "∞", [0.0015, "seconds"] => "1.50 ms",
            [0.5, "percentile"] => "p50", [0.999, "percentile"] => "p99.9", [0.999999, "percentile"] => "p99.9999" }
            .each { |cell, text| assert_equal text, Figures.text(*cell) }
        end

        private

        def text(document, columns)
          Text.new(document, terminal: CLI::Terminal.new(StringIO.new, environment: { "COLUMNS" => columns.to_s })).to_s
        end

        def lines(room, columns, *rows)
          columns = columns.map { |column| column.is_a?(Hash) ? column : { title: column } }
          TextTable.new(Document::Table.new(columns: columns, rows: rows), room).lines(&:itself)
        end
      end
    end
  end
end
