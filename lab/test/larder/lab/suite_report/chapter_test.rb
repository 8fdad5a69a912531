# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/conductor"
require "larder/lab/suite_report/chapter"
require "larder/lab/suites"
require "support/report_schema"
require "support/simulated_turns"

module Larder
  module Lab
    module SuiteReport
      # Chapters of simulated runs.
      class ChapterTest < ActiveSupport::TestCase
        # A run that is over.
        Run = Struct.new(:absent, :skipped, :recorded)
        RECORDED = { "larder" => { "versions" => { "larder" => "1.0" }, "server" => nil },
                     "redis" => { "versions" => { "redis" => "5.4" }, "server" => { version: "Redis 7" } } }.freeze

        test "it answers in sentences for one server, and for several where two levels were measured" do
          one = chapter({ "larder" => 1.0, "redis" => 60.0, "file" => 9.0 }, blocks: %w[page])
          assert_match(/\APage of ten fragments: larder takes 10.*µs a request; file takes .* as larder; redis takes /,
                       one.conclusions.first)
          assert_equal 1, one.conclusions.size
          several = chapter({ "larder" => 1.0, "redis" => 60.0, "larder-redis" => 2.0 }, blocks: %w[page])
          assert_match(/\APage of ten fragments, one server: larder takes/, several.conclusions.first)
          assert_no_match(/larder-redis/, several.conclusions.first)
          assert_match(/, several servers: larder-redis takes .* a request; redis takes .* as long as larder-redis\.\z/,
                       several.conclusions.last)
        end

        test "a table has all ratios, and each block a table and a chart with its times" do
          chapter = chapter({ "larder" => 1.0, "memory" => 1.0, "redis" => 60.0 }, blocks: %w[json counter])
          summary = chapter.sections.find(&:headline).blocks.first
          assert_equal ["", "json", "counter"], summary.columns.map(&:title)
          assert_equal [1.0, 60.0], summary.rows.to_h { |row| [row[0], row[1]] }.then { |rows|
            [rows["memory"]["value"].round, rows["redis"]["value"].round]
          }
          assert summary.rows.to_h { |name, ratio| [name, ratio] }["memory"]["same"]
          section = chapter.sections.find { |each| each.title == "Fetch of a JSON document" }
          assert_equal %w[prose table intervals], section.blocks.map(&:kind)
          assert_equal "5 KB, as an API answers it, with expires_in:.", section.blocks.first.text
          assert_equal %w[larder memory redis], section.blocks[1].rows.map(&:first).sort
        end

        test "rows that were left out, and why, are in the tables and in a list; a broken rule fails the run" do
          absent = { "file" => Bench::Conductor::Absence.new(state: :invalid, reason: "a wrong value"),
                     "redis" => Bench::Conductor::Absence.new(state: :unavailable, reason: "no server") }
          chapter = chapter({ "larder" => 1.0, "memory" => 2.0 }, rows: %w[larder memory file redis], absent: absent,
                                                                  skipped: { %w[memory counter] => "cannot count" })
          assert_predicate chapter, :failed?
          list = chapter.sections.find { |each| each.title == "Not measured" }.blocks.first.items
          assert_equal ["file: invalid, a wrong value", "redis: no server",
                        "memory: increment of a counter: cannot count"], list
          rows = chapter.sections.find { |each| each.title == "Fetch of a JSON document" }.blocks[1].rows
          assert_includes rows, ["file", "not measured: invalid, a wrong value"]
          assert_not_predicate chapter({ "larder" => 1.0 }, absent: absent.slice("redis")), :failed?
        end

        test "a run without a measured row fails, and says so" do
          chapter = chapter({}, rows: ["redis"])
          assert_predicate chapter, :failed?
          assert_equal ["Nothing could be measured."], chapter.conclusions
        end

        test "fewer sessions than show a difference are a warning" do
          few = ->(sessions) { chapter({ "larder" => 1.0 }, sessions: sessions).warnings.grep(/no difference/) }
          assert_equal ["One session shows no difference: 5 or more do."], few[1]
          assert_equal ["4 sessions show no difference: 5 or more do."], few[4]
          assert_empty few[5]
        end

        test "measures have a sample for each session, and the document has the published shape" do
          chapter = chapter({ "larder" => 1.0, "redis" => 60.0 }, blocks: %w[json])
          assert_equal ["applications/json/larder", "applications/json/redis"], chapter.measures.map(&:key)
          assert_equal [6], chapter.measures.map { |measure| measure.samples.size }.uniq
          assert_equal 6 * 6 * 4, chapter.details[:samples].size
          document = Document.new(command: "applications", chapters: [chapter], elapsed: 1.0, environment: {})
          assert_empty ReportSchema.errors(JSON.parse(JSON.generate(document.to_h)))
        end

        test "a machine that was busy before the run is a warning" do
          busy = ->(load) { chapter({ "larder" => 1.0, "redis" => 60.0 }, load: load).warnings }
          assert_empty busy[0.5]
          assert_match(/Other work was running when the run began: load 3.5/, busy[3.5].join)
        end

        test "software names gems and servers once" do
          software = chapter({ "larder" => 1.0, "redis" => 60.0 }).sections.find { |each| each.title == "Software" }
          assert_equal ["larder 1.0, redis 5.4", "Redis 7"], software.blocks.first.items
        end

        private

        def chapter(factors, rows: factors.keys, blocks: %w[json counter], absent: {}, skipped: {}, load: 0.1, **how)
          suite = Suites.fetch("applications")
          plan = Bench::Plan.new(suite: suite, rows: rows, blocks: blocks.map { |key| suite.fetch(key) }, seed: 1)
          samples = SimulatedTurns.new(factors, seed: 4, blocks: blocks, **how).samples
          Chapter.new(Run.new(absent, skipped, RECORDED.slice(*factors.keys)), plan, samples,
                      environment: { load_average: load, cores: 2 }).to_chapter
        end
      end
    end
  end
end
