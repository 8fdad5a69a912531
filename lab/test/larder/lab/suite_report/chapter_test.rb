# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module SuiteReport
      # Chapters of simulated runs.
      class ChapterTest < ActiveSupport::TestCase
        RECORDED = { "larder" => { "versions" => { "larder" => "1.0" }, "server" => nil },
                     "redis" => { "versions" => { "redis" => "5.4" }, "server" => { "version" => "Redis 7" } } }.freeze

        test "applications have an answer, other suites compare the nearest row, published ones count findings" do
          made = chapter({ "larder" => 1.0, "redis" => 60.0 }, blocks: %w[page fragment])
          assert_equal ["One server", "Several servers"], made.answer.sentences.map { |each| each["about"] }
          assert_empty made.conclusions
          deployed = SimulatedRuns.chapter({ "larder" => 1.0, "redis" => 9.0 }, suite: "deploy")
          assert_match(/\AFirst requests after a restart: Redis takes \S+ \(\S+\) times as long as Larder\.\z/,
                       deployed.conclusions.join)
          stores = SimulatedRuns.chapter({ "redis" => 1.0, "litecache" => 0.25 }, suite: "published-a")
          assert_nil stores.answer
          found, nearest = stores.conclusions
          assert_match(/\AMiss, one thread: Redis takes [34]\.\d+ \(\S+\) times as long as Litecache on /, nearest)
          assert_match(/\AThe article has \d+ findings; here: \d+ not measured, \d+ as published/, found)
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
          assert_match(/ a ratio has its interval of 98 %\. /, table.notes.first)
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
          list = chapter.sections.find { |each| each.title == "Not measured" }.blocks.first.items
          assert_equal ["file: invalid, a wrong value (page of ten)", "redis: no server",
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
          few = lambda do |sessions|
            made = chapter({ "larder" => 1.0 }, sessions: sessions)
            [*made.warnings.grep(/no difference/), made.sections.map(&:title).include?("Times as long as larder")]
          end
          assert_equal ["One session shows no difference: 5 or more can.", false], few[1]
          assert_equal ["4 sessions show no difference: 5 or more can.", false], few[4]
          assert_equal [true], few[5]
          busy = ->(processors) { chapter({ "larder" => 1.0, "redis" => 60.0 }, busy: processors).warnings }
          assert_empty busy[1.4] + busy[nil]
          assert_match(/it kept 1.5 of 2 processors busy/, busy[1.5].join)
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
          recorded = { **RECORDED, "file" => { "versions" => {}, "options" => { "server" => "10.11-MariaDB" } } }
          made = SimulatedRuns.chapter({ "larder" => 1.0, "redis" => 60.0 }, recorded: recorded)
          rows, software = made.sections.last.blocks
          assert_equal "redis: Redis through :redis_cache_store", rows.items.last
          assert_equal ["larder 1.0, redis 5.4", "Redis 7", "10.11-MariaDB"], software.items
        end

        private

        def chapter(factors, **how) = SimulatedRuns.chapter(factors, recorded: RECORDED.slice(*factors.keys), **how)
      end

      # The first sentences of a report, and its first chart, of simulated runs whose truth is known.
      class AnswerTest < ActiveSupport::TestCase
        BUSY = { turn: 1.0, process: 0.6, disturbed: 0.5 }.freeze

        test "slower: a page, the next store, how many times as long, and the shares of both" do
          found = one({ "larder" => 0.2, "redis" => 4.4, "file" => 2.2 })
          assert_equal "slower", found["verdict"]
          assert_match(/\AA page of ten fragments takes 1\d\d µs with Larder\. The next store that all /, found["text"])
          assert_match(/: FileStore takes 2\.0\d \(\S+–\S+\) times as long as Larder\. The cache /, found["text"])
          assert_match(/ takes 1\d % of that request; with FileStore 5\d %\.\z/, found["text"])
        end

        test "faster: the slower one of the two is named" do
          found = one({ "larder" => 4.4, "redis" => 0.2 })
          assert_equal "faster", found["verdict"]
          assert_match(/µs with Larder\. The next .*: Larder takes 3\.\d+ \(\S+\) times as long as R/, found["text"])
          based = one({ "larder" => 4.4, "redis" => 0.2 }, base: "redis")
          assert_match(/µs with Redis\. The next .*: Larder takes 3\.\d+ \(\S+\) times as long as R/, based["text"])
        end

        test "a difference that does not matter, is not shown or not known has its verdict; if busy, no chart" do
          { [0.27, { turn: 0.01, process: 0.003 }] => "negligible", [0.2, { process: 0.1 }] => "alike",
            [0.2, BUSY] => "unknown", [4.4, { sessions: 4 }] => "unknown" }.each do |(read, how), verdict|
            assert_equal verdict, one({ "larder" => 0.2, "redis" => read }, **how)["verdict"]
          end
          assert_nil answer({ "larder" => 0.2, "redis" => 0.2 }, **BUSY).chart
        end

        test "a store that is private to a process, that keeps nothing or that is of the same kind is not the next" do
          found = one({ "larder" => 0.2, "larder-redis" => 0.2, "memory" => 0.3, "null" => 0.1, "redis" => 4.4 })
          assert_match(/The next store that all processes share: Redis takes /, found["text"])
        end

        test "without another store, or without any, nothing is compared" do
          assert_match(/with Larder\. No other store that all processes share was measured\.\z/,
                       one({ "larder" => 0.2 })["text"])
          assert_equal "Nothing could be measured.", one({}, rows: ["redis"])["text"]
        end

        test "several servers: Larder in front of Redis is compared with servers alone" do
          found = several({ "larder" => 0.2, "larder-redis" => 0.3, "redis" => 4.4, "file" => 0.25 })
          assert_match(/with Larder in front of Redis\. The next shared server: Redis takes 3\.\d+ \(/, found["text"])
          assert_match(/without a network\.\z/, found["text"])
        end

        test "several servers: a missing row says why, or which command measures it" do
          assert_match(/not measured: `larder-lab applications --only larder-redis,redis` measures it\.\z/,
                       several({ "larder" => 0.2 })["text"])
          absent = { "larder-redis" => Bench::Absence.new(state: :unavailable, reason: "no redis-server") }
          found = several({ "larder" => 0.2 }, rows: %w[larder larder-redis], absent: absent)
          assert_match(/not measured: no redis-server\.\z/, found["text"])
        end

        test "without a page, the first block that was measured answers" do
          found = SimulatedRuns.chapter({ "larder" => 1.0, "redis" => 9.0 }, blocks: %w[counter json]).answer
          assert_match(/\AA fetch of a JSON document .* Larder\. The next .*: Redis /, found.sentences.first["text"])
          assert_nil found.chart
        end

        test "the chart has the cache's share of each request, with its interval, the fastest store first" do
          absent = { "dragonfly" => Bench::Absence.new(reason: "no") }
          chart = answer(SimulatedRuns::READS, rows: [*SimulatedRuns::READS.keys, "dragonfly"], absent: absent).chart
          assert_equal ["Larder", "Larder in front of Redis"], chart.rows.first(2).map(&:first)
          _, share, request = chart.rows.find { |label, *| label == "Redis" }
          assert_in_delta 0.72, share["value"], 0.03
          assert share["value"].between?(share["low"], share["high"])
          assert_in_delta 6.1e-4, request, 4e-5
          assert_match(/\AWithout a cache the page takes 1\d\d µs\.\z/, chart.notes.first)
          assert_equal "Not measured: Dragonfly.", chart.notes.last
        end

        test "sessions have a sentence of their chapter, or of the command that measures them" do
          chapter = SimulatedRuns.pages({ "larder" => 0.2, "redis" => 4.4 })
          assert_equal Document::SESSIONS, SimulatedRuns.document(chapter).answer.sentences.last["text"]
          sessions = Document::Chapter.new(key: "published-e", title: "Sessions", conclusions: ["24 findings."])
          document = SimulatedRuns.document(sessions, chapter)
          assert_equal Document::SESSIONS, document.answer.sentences.last["text"]
          sessions.conclusions << "They cost 30 µs."
          assert_equal ["Sessions", "They cost 30 µs."], document.answer.sentences.last.values_at("about", "text")
          assert_same chapter, document.answering
          assert_nil SimulatedRuns.document(sessions).answer
        end

        private

        def answer(reads, **how) = SimulatedRuns.pages(reads, **how).answer

        def one(...) = answer(...).sentences.first

        def several(...) = answer(...).sentences.last
      end
    end
  end
end
