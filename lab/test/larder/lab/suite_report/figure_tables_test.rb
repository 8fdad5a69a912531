# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/conductor"
require "larder/lab/bench/suite"
require "larder/lab/suite_report/figure_tables"

module Larder
  module Lab
    module SuiteReport
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
          assert_equal ["Many reads", true], [section.title, section.headline]
          prose, table, curves = section.blocks
          assert_equal "By one thread.", prose.text
          assert_equal ["", "rate", "median", "errors"], table.columns.map(&:title)
          assert_equal [["larder", { "value" => 15.0, "low" => 10, "high" => 20 }, 15.0, 1],
                        ["file", "not measured: no file here"]], table.rows
          assert_equal [{ "label" => "larder", "points" => [[1, 7], [2, 9]] }], curves.series
          assert_equal "Reads over time, least and most: larder 7–9.", curves.sentence
        end

        test "columns with a sentence have one with all rows, and those that have a better direction are measures" do
          assert_equal ["Reads a second: larder 15."], @tables.sentences
          assert_equal ["Has errors: larder."], @tables.warnings
          measure = @tables.measures.first.to_h
          assert_equal ["trial/reads/rate/larder", "higher", [10, 20]], measure.values_at(:key, :better, :samples)
          assert_equal 1, @tables.measures.size
        end
      end
    end
  end
end
