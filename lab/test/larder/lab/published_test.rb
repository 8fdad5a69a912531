# frozen_string_literal: true

require "test_helper"
require "larder/lab/published"
require "larder/lab/suites"
require "larder/lab/bench/plan"
require "larder/lab/suite_report/published_findings"

module Larder
  module Lab
    class PublishedTest < ActiveSupport::TestCase
      test "a factor is written as a number of times, a word, or as alike" do
        words = [2.5, 4.0, nil, "more"].map { |factor| Published::Finding.new(factor: factor).words }
        assert_equal ["2.5 ×", "4 ×", "alike", "more"], words
      end

      test "the contenders and blocks of each finding exist" do
        suite = Suites.fetch(Published::SUITE)
        Published::FINDINGS.each do |finding|
          assert_equal finding.pairs.flatten.uniq, Contenders.check(finding.pairs.flatten.uniq)
          [finding.block, finding.slower_block].compact.each { |key| assert suite.fetch(key) }
        end
      end

      test "no pair of rows is in two findings of a block, and only figures, words or nothing are published" do
        pairs = Published::FINDINGS.map do |finding|
          [[finding.faster, finding.slower].map { |side| Array(side) }.sort, finding.block]
        end
        assert_equal pairs.uniq, pairs
        assert_empty Published::FINDINGS.map(&:factor).grep_v(Float) - [nil, "more", "far more", "not given"]
      end

      # The article's findings, transcribed from it and not from {Published}: what the table must print.
      ARTICLE = {
        "Litecache about 4 times Redis reading, 2.5 times writing" =>
          { "litecache/redis: hit, 1 thread" => "4 ×", "litecache/redis: miss, 1 thread" => "2.5 ×" },
        "with five threads 4 times both" =>
          { "litecache/redis: hit, 5 as published" => "4 ×", "litecache/redis: miss, 5 as published" => "4 ×" },
        "its writes faster than with one thread" => { "litecache, miss: 5 threads/1" => "more" },
        "Memcached about as Redis" =>
          { "memcached/redis: hit, 1 thread" => "alike", "memcached/redis: miss, 1 thread" => "alike" },
        "Valkey and DiceDB alike, Redis 1.5 times faster than they" =>
          { "valkey/dicedb: hit, 1 thread" => "alike", "valkey/dicedb: miss, 1 thread" => "alike",
            "redis/valkey: hit, 1 thread" => "1.5 ×", "redis/valkey: miss, 1 thread" => "1.5 ×",
            "redis/dicedb: hit, 1 thread" => "1.5 ×", "redis/dicedb: miss, 1 thread" => "1.5 ×" },
        "with five threads memcached, Valkey and DiceDB alike" =>
          { "valkey/memcached: hit, 5 as published" => "alike", "valkey/memcached: miss, 5 as published" => "alike",
            "valkey/dicedb: hit, 5 as published" => "alike", "valkey/dicedb: miss, 5 as published" => "alike" },
        "and Redis before them" =>
          { "redis/next: hit, 5 as published" => "more", "redis/next: miss, 5 as published" => "more" },
        "Dragonfly far slower" =>
          { "redis/dragonfly: hit, 1 thread" => "far more", "redis/dragonfly: miss, 1 thread" => "far more" },
        "PostgreSQL half of Redis reading, and slowest writing" =>
          { "redis/pg: hit, 1 thread" => "2 ×", "next/pg: miss, 1 thread" => "more" },
        "with five threads slowest" =>
          { "next/pg: hit, 5 as published" => "more", "next/pg: miss, 5 as published" => "more" },
        "tuned 1.5 times better, and better writes with five threads" =>
          { "pg-tuned/pg: hit, 1 thread" => "1.5 ×", "pg-tuned/pg: miss, 1 thread" => "1.5 ×",
            "pg-tuned/pg: miss, 5 as published" => "more" },
        "pg_prewarm before the run" => { "pg-tuned, hit: with pg_prewarm/without" => "not given" },
        "SQLite reads like Redis, writes faster than tuned PostgreSQL, and with five threads doubles it" =>
          { "sqlite/redis: hit, 1 thread" => "alike", "sqlite/pg-tuned: miss, 1 thread" => "more",
            "sqlite/pg-tuned: miss, 5 as published" => "2 ×" },
        "with five threads SQLite as Valkey" =>
          { "sqlite/valkey: hit, 5 as published" => "alike", "sqlite/valkey: miss, 5 as published" => "alike" }
      }.freeze

      test "the table prints each finding of the article with its figure, and no other" do
        rows = tables.first.rows.to_h { |name, published, *| [name, published] }
        ARTICLE.each { |words, figures| assert_equal figures, rows.slice(*figures.keys), words }
        assert_equal ARTICLE.values.flat_map(&:keys).sort, rows.keys.sort
      end

      test "statements of the article without a figure stand below the table" do
        notes = tables.first.notes.join(" ")
        ["n = 100,000", "mean of 5 runs", "did not run on Rails 8", "a suite of gems", "too young", "unlogged table",
         "autovacuum", "shared_buffers", "pg_prewarm", "PostgreSQL's memory"].each { |one| assert_includes notes, one }
        assert_match(/Seconds of 100,000 calls, mean of the first 5 sessions/, tables.last.caption)
      end

      private

      def tables
        plan = Bench::Plan.new(suite: Suites.fetch(Published::SUITE), rows: ["redis"])
        findings = SuiteReport::Findings.new(plan, Bench::Samples.new)
        SuiteReport::PublishedFindings.new(plan, findings).tables
      end
    end
  end
end
