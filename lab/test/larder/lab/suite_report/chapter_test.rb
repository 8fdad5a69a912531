# frozen_string_literal: true

require "test_helper"
require "support/report_schema"
require "support/simulated_runs"

module Larder
  module Lab
    module SuiteReport
      # Chapters of simulated runs.
      class ChapterTest < ActiveSupport::TestCase
        RECORDED = { "larder" => { "versions" => { "larder" => "1.0" }, "server" => nil },
                     "redis" => { "versions" => { "redis" => "5.4" }, "server" => { "version" => "Redis 7" } } }.freeze

        test "the suite about applications has an answer, the published one says how many findings hold" do
          made = chapter({ "larder" => 1.0, "redis" => 60.0 }, blocks: %w[page fragment])
          assert_equal ["One server", "Several servers"], made.answer.sentences.map { |each| each["about"] }
          assert_empty made.conclusions
          stores = SimulatedRuns.chapter({ "redis" => 1.0, "litecache" => 0.25 }, suite: "published-a")
          assert_nil stores.answer
          found, nearest = stores.conclusions
          assert_match(/\AMiss, one thread: Redis takes [34]\.\d+ \(\S+\) times as long as Litecache on /, nearest)
          assert_match(/\AThe article has \d+ findings: \d+ hold here.*, \d+ were not measured\.\z/, found)
          counts = found.scan(/\d+/).map(&:to_i)
          assert_equal counts.first, counts.drop(1).sum
        end

        test "a table has the ratios of at most three blocks, and each block is folded, with its times" do
          made = chapter({ "larder" => 1.0, "memory" => 1.0, "redis" => 60.0, "null" => 0.5 })
          first, *others = made.sections
          table = first.blocks.first
          assert_equal ["", "page of ten fragments", "read of a fragment", "fetch of a JSON document"],
                       table.columns.map(&:title)
          rows = table.rows.to_h { |row, ratio| [row, ratio] }
          assert_equal %w[larder memory redis], rows.keys.sort
          assert_match(/\A\d\S+ µs\z/, rows["larder"])
          assert_in_delta 60, rows["redis"]["value"], 2
          assert_equal [true, "alike"], rows["memory"].values_at("same", "verdict")
          assert_equal "slower", rows["redis"]["verdict"]
          assert_equal [*Suites.fetch("applications").blocks.map(&:title), "software"].size, others.count(&:folded)
          section = others.find { |each| each.title == "Fetch of a JSON document" }
          assert_equal %w[prose table], section.blocks.map(&:kind)
          assert_equal "5 KB, as an API answers it, with expires_in:.", section.blocks.first.text
          assert_equal %w[larder memory null redis], section.blocks[1].rows.map(&:first).sort
        end

        test "rows that were left out, and why, are in the tables and in a list; a broken rule fails the run" do
          absent = { "file" => Bench::Absence.new(state: :invalid, reason: "a wrong value", block: "page of ten"),
                     "redis" => Bench::Absence.new(state: :unavailable, reason: "no server") }
          chapter = chapter({ "larder" => 1.0, "memory" => 2.0 }, rows: %w[larder memory file redis], absent: absent,
                                                                  blocks: %w[json counter],
                                                                  skipped: { %w[memory counter] => "cannot count" })
          assert_predicate chapter, :failed?
          assert_equal ["file, page of ten: a wrong value"], chapter.failures
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
          assert_predicate SimulatedRuns.chapter({ Bench::ReferenceLoop::KEY => 1.0 }, rows: ["redis"]), :failed?
        end

        test "fewer sessions than show a difference are a warning, and so is a machine that was busy before the run" do
          few = ->(sessions) { chapter({ "larder" => 1.0 }, sessions: sessions).warnings.grep(/no difference/) }
          assert_equal ["One session shows no difference: 5 or more do."], few[1]
          assert_equal ["4 sessions show no difference: 5 or more do."], few[4]
          assert_empty few[5]
          busy = ->(load) { chapter({ "larder" => 1.0, "redis" => 60.0 }, load: load).warnings }
          assert_empty busy[1.4] + busy[nil]
          assert_match(/Other work was running when the run began: load 1.5 on 2 cores/, busy[1.5].join)
        end

        test "measures have a sample for each session, and the document has the published shape" do
          chapter = chapter({ "larder" => 1.0, "redis" => 60.0 }, blocks: %w[json])
          assert_equal ["applications/json/larder", "applications/json/redis"], chapter.measures.map(&:key)
          assert_equal [6], chapter.measures.map { |measure| measure.samples.size }.uniq
          assert_equal 6 * 6 * 4, chapter.details[:samples].size
          document = Document.new(command: "applications", chapters: [chapter], elapsed_seconds: 1.0, environment: {})
          assert_empty ReportSchema.errors(JSON.parse(JSON.generate(document.to_h)))
        end

        test "servers have a table of their memory, with the medians before and after, and of the growth of each" do
          recorded = RECORDED["larder"]
          weighed = { "redis" => recorded.merge("memory" => { "before" => [10, 20, 30], "after" => [14, 21, 90] }),
                      # left out in two sessions
                      "valkey" => recorded.merge("memory" => { "before" => [10, 20, 30], "after" => [14] }),
                      "memcached" => recorded.merge("memory" => { "before" => [10] }) }
          made = SimulatedRuns.chapter(weighed.transform_values { 1.0 }, recorded: weighed)
          table = made.sections.find { |each| each.title == "Memory of servers" }.blocks.first
          assert_equal [["valkey", 20, 14, 4], ["redis", 20, 21, 4]], table.rows
        end

        test "the names of rows are explained, and gems and servers named once" do
          rows, software = chapter({ "larder" => 1.0, "redis" => 60.0 }).sections.last.blocks
          assert_equal "redis: Redis through :redis_cache_store", rows.items.last
          assert_equal ["larder 1.0, redis 5.4", "Redis 7"], software.items
        end

        private

        def chapter(factors, **how) = SimulatedRuns.chapter(factors, recorded: RECORDED.slice(*factors.keys), **how)
      end
    end
  end
end
