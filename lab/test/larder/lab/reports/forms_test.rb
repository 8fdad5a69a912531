# frozen_string_literal: true

require "test_helper"
require "csv"
require "support/simulated_runs"

module Larder
  module Lab
    module Reports
      # The same document in every form.
      class FormsTest < ActiveSupport::TestCase
        test "the terminal gets aligned tables that fit, without the columns one can do without" do
          wide = plain(100)
          assert_match(/^ +µs  times +on disk$/, wide)
          assert_match(/^  a +1\.31  1 +12\.3 MB$/, wide)
          assert_match(/^  b +25\.0  19\.1 \(18\.2–20\.0\) +–$/, wide)
          assert_match(/^  c  not measured: none$/, wide)
          assert wide.lines.all? { |line| line.chomp.size <= 100 }
        end

        test "a table that is too wide for the terminal goes on below, with its first column" do
          titles = ["", *("a".."f").map { |letter| "column #{letter} of the table" }]
          table = Document::Table.build(columns: titles.map { |title| { title: title, format: "text" } },
                                        rows: [["row", *(1..6).map { |i| "cell #{i}" }]])
          chapter = Document::Chapter.new(key: "x", title: "X",
                                          sections: [Document::Section.new(title: "Wide", blocks: [table])])
          document = Document.new(command: "x", chapters: [chapter], environment: {}, elapsed: 1.0)
          text = Plain.new(document, terminal: CLI::Terminal.new(StringIO.new, environment: { "COLUMNS" => "80" })).to_s
          assert_equal 2, text.scan(/^  row  cell/).size, text
          assert_match(/^  row  cell 4 +cell 5 +cell 6$/, text)
          assert(text.lines.all? { |line| line.chomp.size <= 80 })
        end

        test "findings come first, then warnings, tables and the environment with the command" do
          text = plain(80)
          places = ["Stores", "Findings", "Warnings", "Hits", "Environment"].map { |title| text.index(/^#{title}$/) }
          assert_equal places.sort, places
          assert_match(/^  - larder-lab stores$/, text)
        end

        test "the answer is the first thing in the terminal and in Markdown, with its warnings" do
          document = SimulatedRuns.document(SimulatedRuns.pages({ "larder" => 0.2, "redis" => 4.4 }, load: 9.0))
          text = Plain.new(document, terminal: CLI::Terminal.new(StringIO.new)).to_s
          assert text.start_with?("#{Document::QUESTION}\n  One server: A page of ten fragments takes ")
          places = ["  Several", "  Sessions:", "Warnings", "Caches in Rails"].map { |each| text.index(/^#{each}/) }
          assert_equal places.sort, places
          assert_equal 1, text.scan("Other work was running").size
          assert_empty(text.lines.select { |line| line.chomp.size > 80 })
          markdown = Markdown.new(document).to_s
          assert markdown.start_with?("## #{Document::QUESTION}\n\n- One server: A page")
          assert_includes markdown, "`larder-lab overview --quick --seed 7`"
        end

        test "CSV has a line for each sample, quoted as RFC 4180 has it" do
          rows = CSV.parse(Csv.new(SampleDocument.build).to_s, headers: true)
          assert_equal ["1.0e-06", "1.1e-06", "1.2e-06"], rows.map { |row| row["value"] }
          assert_equal "a, \"hit\"", rows.first["label"]
        end

        test "Markdown keeps its own signs apart from those of the text" do
          text = Markdown.new(SampleDocument.build).to_s
          assert_includes text, 'What was done \\| with \\*marks\\*.'
          assert_includes text, "|  | µs | times | on disk |\n| --- | --: | --- | --: |"
          assert_includes text, "```ruby\nconfig.cache_store = :larder_store\n```"
        end

        test "what came of dividing by nothing does not stop a report" do
          measure = SampleDocument.measure([1.0, Float::NAN])
          document = SampleDocument.build
          document.chapters.first.measures = [measure]
          assert_includes Data.new(document).to_s, "null"
          assert_equal ["–", "∞"], [Float::NAN, Float::INFINITY].map { |value| Cells.text(value, "micros") }
        end

        test "every cell of every format is text" do
          Cells::FORMATS.each_key { |format| assert_kind_of String, Cells.text(0.5, format) }
          assert_equal "–", Cells.text(nil, "micros")
          assert_equal "yes", Cells.text(true)
          assert_equal "3.17 Gbit/s", Cells.text(3_170_000_000, "bits")
          assert_equal %w[p50 p99.9 p99.9999], [0.5, 0.999, 0.999999].map { |share| Cells.text(share, "percentile") }
          assert_equal "1.50 ms", Cells.text(0.0015, "seconds")
        end

        private

        def plain(columns)
          terminal = CLI::Terminal.new(StringIO.new, environment: { "COLUMNS" => columns.to_s })
          Plain.new(SampleDocument.build, terminal: terminal).to_s
        end
      end
    end
  end
end
