# frozen_string_literal: true

require "test_helper"
require "support/simulated_runs"

module Larder
  module Lab
    module SuiteReport
      # The first sentences of a report, and its first chart, of simulated runs whose truth is known.
      class AnswerTest < ActiveSupport::TestCase
        BUSY = { turn: 1.0, process: 0.6, disturbed: 0.5 }.freeze

        test "slower: a page, the next store, how many times as long, and the shares of both" do
          found = one({ "larder" => 0.2, "redis" => 4.4, "file" => 2.2 })
          assert_equal "slower", found["verdict"]
          assert_match(/\AA page of ten fragments takes 1\d\d µs with Larder\. With FileStore, the next store that /,
                       found["text"])
          assert_match(/ it takes 2\.0\d \(\S+–\S+\) times as long\. The cache takes 1\d % of that request; with /,
                       found["text"])
          assert_match(/with FileStore 5\d %\.\z/, found["text"])
        end

        test "faster: the slower one of the two is named" do
          found = one({ "larder" => 4.4, "redis" => 0.2 })
          assert_equal "faster", found["verdict"]
          assert_match(/µs with Larder\. It takes less with Redis: Larder takes 3\.\d+ \(\S+\) times as long\./,
                       found["text"])
          based = one({ "larder" => 4.4, "redis" => 0.2 }, base: "redis")
          assert_match(/µs with Redis\. With Larder, the next store .* 3\.\d+ \(\S+\) times as long\./, based["text"])
        end

        # How long a read takes in Redis, with the noise of a run, and what is said then.
        OTHERS = {
          [0.2, { turn: 0.01, process: 0.003 }] => ["negligible", /No difference that matters from Redis, .*: 1\.\d/],
          [0.27, { turn: 0.01, process: 0.003 }] => ["negligible", /No difference that matters from Redis, .*: 1\.\d/],
          [0.2, { process: 0.1 }] => ["alike", /No difference is shown from Redis, .*; one of \d+ % would have been\./],
          [0.2, BUSY] => ["unknown", /Larder\. This machine was too busy to tell whether Redis differs: [\w ]+\.\z/],
          [4.4, { sessions: 1 }] => ["unknown", / This run had too few sessions to tell whether Redis differs\.\z/],
          [4.4, { sessions: 4 }] => ["unknown", / This run had too few sessions to tell whether Redis differs\.\z/]
        }.freeze

        test "no difference that matters, none that is shown, a busy machine and too few sessions have words" do
          OTHERS.each do |(read, how), (verdict, words)|
            found = one({ "larder" => 0.2, "redis" => read }, **how)
            assert_equal verdict, found["verdict"]
            assert_match words, found["text"]
          end
          assert_nil answer({ "larder" => 0.2, "redis" => 0.2 }, **BUSY).chart
        end

        test "a store that is private to a process, that keeps nothing or that is of the same kind is not the next" do
          found = one({ "larder" => 0.2, "larder-redis" => 0.2, "memory" => 0.3, "null" => 0.1, "redis" => 4.4 })
          assert_match(/With Redis, the next store/, found["text"])
        end

        test "without another store, or without any, nothing is compared" do
          assert_match(/with Larder\. No other store that all processes share was measured\.\z/,
                       one({ "larder" => 0.2 })["text"])
          assert_equal "Nothing could be measured.", one({}, rows: ["redis"])["text"]
        end

        test "several servers: Larder in front of Redis is compared with servers alone" do
          found = several({ "larder" => 0.2, "larder-redis" => 0.3, "redis" => 4.4, "file" => 0.25 })
          assert_match(/with Larder in front of Redis\. With Redis, the next shared server, it takes 3\.\d+ \(/,
                       found["text"])
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
          assert_match(/\AA fetch of a JSON document takes .* with Larder\. With Redis/, found.sentences.first["text"])
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
          assert_match(/ 1\d % with Larder, 8\d % with Solid Cache on SQLite\. Without a cache the page takes 1\d\d µs/,
                       chart.notes.first)
          assert_match(/\. Not measured: Dragonfly\.\z/, chart.notes.first)
        end

        test "sessions have a sentence of their chapter, or of the command that measures them" do
          chapter = SimulatedRuns.pages({ "larder" => 0.2, "redis" => 4.4 })
          assert_equal Document::SESSIONS, SimulatedRuns.document(chapter).answer.sentences.last["text"]
          sessions = Document::Chapter.new(key: "published-e", title: "Sessions",
                                           conclusions: ["24 findings.", "They cost 30 µs."])
          document = SimulatedRuns.document(sessions, chapter)
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
