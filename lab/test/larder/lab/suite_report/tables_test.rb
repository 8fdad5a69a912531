# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module SuiteReport
      # Tables of suites about codecs.
      class AxisTablesTest < ActiveSupport::TestCase
        BOOKS = %w[compress_books decompress_books].freeze

        test "each payload has a table: a row for each codec with its sizes, a column for each operation" do
          tables = tables("published-b", { "zstd-3" => 1.0, "snappy" => 0.1 }, [*BOOKS, "compress_text"],
                          bytes: { "zstd-3" => 600, "snappy" => 900 })
          assert_equal ["payload: books", "payload: text"], tables.first(2).map(&:caption)
          assert_equal ["", "bytes", "compress", "decompress"], tables.first.columns.map(&:title)
          assert_equal [["snappy", 900], ["zstd-3", 600]], tables.first.rows.map { |row| row.first(2) }
          tables.first.rows.each { |row| assert_equal [Float], row.drop(2).map(&:class).uniq }
        end

        test "no compression is in no table of ratios" do
          chapter = SimulatedRuns.chapter({ "none" => 0.001, "zstd-3" => 1.0 }, suite: "published-b", blocks: BOOKS)
          assert_equal ["zstd-3"], chapter.sections.first.blocks.first.rows.map(&:first)
        end

        test "a codec that was not measured has a row that says why" do
          absent = { "lz4_flex" => Bench::Absence.new(state: :unavailable, reason: "needs Ruby 3.2: or Rust") }
          table = tables("published-b", { "zstd-3" => 1.0 }, BOOKS, rows: %w[zstd-3 lz4_flex], absent: absent).first
          assert_equal ["lz4_flex", "not measured: needs Ruby 3.2: or Rust"], table.rows.last
        end

        test "a star follows what brings back a likeness, with its meaning" do
          keeps = { "json" => 0, "marshal" => 1 }
          factors = { "json" => 1.0, "marshal" => 2.0 }
          table = tables("published-c", factors, %w[dump_hash load_hash], keeps: keeps).first
          assert_equal ["json *", "marshal"], table.rows.map(&:first)
          assert_match(/brings back a likeness/, table.notes.first)
        end

        test "of many combinations there is one table, whose first columns are their axes" do
          blocks = Suites.fetch("matrix").blocks.reject(&:given).map(&:key)
          chapter = SimulatedRuns.chapter({ "larder" => 1.0, "redis" => 9.0 }, suite: "matrix", blocks: blocks)
          table = section(chapter).blocks.first
          assert_equal ["serializer", "compressor", "", "read", "store's read", "write", "store's write"],
                       table.columns.map(&:title)
          assert_equal 10 * 2, table.rows.size
          assert_equal %w[default default larder], table.rows.first.first(3)
          assert_empty(chapter.sections.select { |each| each.title.start_with?("Read, ") })
        end

        test "the bytes of sessions are those of one" do
          table = tables("session-questions", { "larder" => 1.0 }, ["logged_in"], session: { "larder" => 235 }).first
          assert_equal ["bytes/session", 235], [table.columns[1].title, table.rows.first[1]]
        end

        test "a suite without axes has no such table" do
          assert_nil section(SimulatedRuns.chapter({ "larder" => 1.0 }))
        end

        private

        def tables(suite, factors, blocks, **how)
          figures = how.extract!(:bytes, :keeps, :session)
          recorded = factors.to_h do |row, _|
            found = figures.to_h { |name, all| [name.to_s, [all[row]]] }
            [row, { "versions" => {}, "figures" => blocks.to_h { |block| [block, found] } }]
          end
          section(SimulatedRuns.chapter(factors, suite: suite, blocks: blocks, recorded: recorded, **how)).blocks
        end

        def section(chapter)
          chapter.sections.find { |each| each.title == "Times and sizes" }
        end
      end

      # The table of wires.
      class WireTest < ActiveSupport::TestCase
        test "as measured here: with compressing alone, and with both directions" do
          # 400 bytes less take 3,200 bits; the work is 30 and 60 µs.
          assert_equal [%w[zstd-3 zstd-3], %w[zstd-3 zstd-3], %w[zstd-3 none], %w[none none], %w[none none]],
                       table.rows.map { |row| row.last(2) }
        end

        private

        def table
          sizes = { "none" => 1000, "zstd-3" => 600 }
          recorded = sizes.transform_values do |bytes|
            { "versions" => {}, "figures" => AxisTablesTest::BOOKS.to_h { |block| [block, { "bytes" => [bytes] }] } }
          end
          chapter = SimulatedRuns.chapter({ "none" => 0.01, "zstd-3" => 3.0 }, suite: "published-b", recorded: recorded,
                                          blocks: AxisTablesTest::BOOKS, pass: 0, process: 0, turn: 0, disturbed: 0)
          chapter.sections.flat_map(&:blocks).find { |block| block.kind == "table" && block.caption.to_s[/books, by/] }
        end
      end

      class FigureTablesTest < ActiveSupport::TestCase
        SUITE = Bench::Suite.define("trial") do
          block(:reads, "many reads", about: "by one thread") do
            paced { |_| {} }
            column("rate", "integer", sentence: "Reads a second", better: "higher", unit: "per second") do |process|
              process["rate"]
            end
            column("median", "number") { |process| process["rate"] }
            column("errors", "integer", all: true) { |all| all.sum { |process| process["errors"] } }
            curve("Reads over time", x: { title: "seconds", format: "number" },
                                     y: { title: "reads", format: "integer" }) { |all| all.first["points"] }
            curve("Latency", x: { scale: "percentile" }, y: { format: "integer" }) { [[0.5, 7], [0.99, 9]] }
            warning("Has errors") { |all| all.any? { |process| process["errors"].positive? } }
            warning("Has none") { |all| all.none? { |process| process["errors"].positive? } }
          end
        end
        RECORDED = { "larder" => { "figures" => { "reads" => { "rate" => [10, 20], "errors" => [0, 1],
                                                               "points" => [[[1, 7], [2, 9]], []] } } },
                     "file" => { "versions" => {} } }.freeze
        ABSENT = { "file" => Bench::Absence.new(reason: "no file here") }.freeze

        setup do
          plan = Bench::Plan.new(suite: SUITE, rows: %w[larder file], seed: 1)
          run = Run.new(recorded: RECORDED, absent: ABSENT)
          @tables = FigureTables.new(plan, Findings.new(plan, Bench::Samples.new, run))
        end

        test "a block's figures of all processes are a table, and rows without them say why" do
          section = @tables.sections.first
          assert_equal "Many reads", section.title
          prose, table, curves, percentiles = section.blocks
          assert_equal "By one thread.", prose.text
          assert_equal ["", "rate", "median", "errors"], table.columns.map(&:title)
          assert_equal [["larder", { "value" => 15.0, "low" => 10, "high" => 20 }, 15.0, 1],
                        ["file", "not measured: no file here"]], table.rows
          assert_equal [{ "label" => "larder", "points" => [[1, 7], [2, 9]] }], curves.series
          assert_equal "Reads over time, least and most: larder 7–9.", curves.sentence
          assert_equal "Latency, the first and the last percentile: larder 7–9.", percentiles.sentence
        end

        test "columns with a sentence have one with all rows, and those that have a better direction are measures" do
          assert_equal ["Reads a second: larder 15."], @tables.sentences
          assert_equal ["Has errors: larder."], @tables.warnings
          measure = @tables.measures.first.to_h
          assert_equal ["trial/reads/rate/larder", "higher", [10, 20], [15.0]],
                       measure.values_at(:key, :better, :samples, :by_session)
          assert_equal 1, @tables.measures.size
        end
      end
    end
  end
end
