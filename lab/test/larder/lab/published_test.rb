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

      test "the rows and blocks of each finding and each table exist" do
        Published.articles.each do |key, article|
          suite = Suites.fetch(key)
          article.findings.each do |finding|
            names = [finding.faster, finding.slower].flatten
            assert_equal names.uniq, suite.registry.check(names)
            [finding.block, *finding.slower_block].each { |block| assert suite.fetch(block) }
          end
          article.tables.each do |table|
            assert_equal table.rows.keys, suite.registry.check(table.rows.keys)
            table.columns.flat_map(&:of).each { |block| assert suite.fetch(block) }
            assert_equal [table.columns.size + 1], table.rows.values.map(&:size).uniq
          end
        end
      end

      test "no pair of rows is in two findings of a block, and only figures, words or nothing are published" do
        Published.articles.each_value do |article|
          pairs = article.findings.map do |finding|
            [[finding.faster, finding.slower].map { |side| Array(side) }.sort, finding.block, finding.figure,
             finding.slower_block]
          end
          assert_equal pairs.uniq, pairs
          words = [nil, "more", "far more", "not given", "recommended"]
          assert_empty article.findings.map(&:factor).grep_v(Float) - words
        end
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
        rows = printed("published-a").comparison.rows.to_h { |name, published, *| [name, published] }
        ARTICLE.each { |words, figures| assert_equal figures, rows.slice(*figures.keys), words }
        assert_equal ARTICLE.values.flat_map(&:keys).sort, rows.keys.sort
      end

      test "statements of the article without a figure stand below the table" do
        notes = printed("published-a").comparison.notes.join(" ")
        ["n = 100,000", "mean of 5 runs", "did not run on Rails 8", "a suite of gems", "too young", "unlogged table",
         "autovacuum", "shared_buffers", "pg_prewarm", "PostgreSQL's memory"].each { |one| assert_includes notes, one }
        assert_match(/Seconds of 100,000 calls, mean of the first 5 sessions/,
                     printed("published-a").totals.caption)
      end

      # Tables of the articles, transcribed from them: column titles, then rows; nil is what was not given.
      TABLES = {
        "published-b" => [[["bytes", "compress i/s"], ["none", "1,023,931", nil], ["Snappy", "895,496", "3086.8"],
                           ["LZ4Flex", "878,160", "1959.3"], ["LZ4", "879,179", "1101.4"], ["Zstd", "587,085", "278.5"],
                           ["Brotli", "577,629", "35.9"], ["Gzip", nil, "35.0"]]],
        "published-c" => [[["round trip i/s", "serialize i/s"], ["MessagePack", "78.0", "155.6"],
                           ["Marshal", "63.0", "114.6"], ["AS::JSON", "61.5", "76.3"], ["JSON", "61.4", "74.8"]]],
        "published-d" => [[["read ms", "write ms", "MB"], ["Binary", "498", "410", "4.9"], ["XML", "311", "792", "9.8"],
                           ["JSON", "174", "446", "6.6"], ["ProtoBuf", "88", "373", "3.5"]],
                          [["read ms", "write ms"], ["Binary", "6", "16"], ["XML", "13", "65"], ["JSON", "8", "47"],
                           ["ProtoBuf", "15", "174"]]]
      }.freeze

      test "each table of the articles is printed with its columns and figures, though nothing was measured" do
        TABLES.each do |suite, expected|
          found = printed(suite).tables.map do |table|
            titles = table.columns.map(&:title)
            at = titles.each_index.reject { |each| %w[here first warm].include?(titles[each]) }
            [titles.values_at(*at).drop(1), *table.rows.map { |row| row.values_at(*at) }]
          end
          assert_equal expected, found, suite
        end
      end

      # Findings that follow from the tables: each row and the next worse one, and the best and the worst.
      RATIOS = {
        "published-b" => { "snappy/lz4_flex: compress books" => "1.58 ×", "lz4_flex/lz4: compress books" => "1.78 ×",
                           "lz4/zstd-3: compress books" => "3.95 ×", "zstd-3/brotli-5: compress books" => "7.76 ×",
                           "brotli-5/gzip-6: compress books" => "alike", "snappy/gzip-6: compress books" => "88.19 ×",
                           "brotli-5/zstd-3: bytes, books" => "alike", "zstd-3/lz4_flex: bytes, books" => "1.5 ×",
                           "lz4_flex/lz4: bytes, books" => "alike", "lz4/snappy: bytes, books" => "alike",
                           "snappy/none: bytes, books" => "1.14 ×", "brotli-5/none: bytes, books" => "1.77 ×" },
        "published-c" => { "message_pack/marshal: round trip books" => "1.24 ×",
                           "marshal/active_support_json: round trip books" => "alike",
                           "active_support_json/json: round trip books" => "alike",
                           "message_pack/json: round trip books" => "1.27 ×",
                           "message_pack/marshal: dump books" => "1.36 ×",
                           "marshal/active_support_json: dump books" => "1.5 ×",
                           "active_support_json/json: dump books" => "alike",
                           "message_pack/json: dump books" => "2.08 ×" },
        "published-d" => { "protobuf/binary: first read, 50,000" => "5.66 ×",
                           "protobuf/binary: read, 50,000" => "5.66 ×",
                           "xml/binary: first read, 50,000" => "1.6 ×", "json/xml: write, 50,000" => "1.78 ×",
                           "binary/json: first read, 50" => "1.33 ×", "binary/protobuf: first read, 50" => "2.5 ×",
                           "xml/protobuf: first write, 50" => "2.68 ×", "binary/protobuf: write, 50" => "10.88 ×",
                           "protobuf/xml: bytes, 50,000" => "2.8 ×", "binary/json: bytes, 50,000" => "1.35 ×",
                           "protobuf, write, 50: warm/first" => "not given" },
        "matrix" => { "memcached/next: read message_pack + snappy" => "recommended" }
      }.freeze

      test "findings of the tables are printed with the ratio of the published figures" do
        RATIOS.each do |suite, expected|
          rows = printed(suite).comparison.rows.to_h { |name, published, *| [name, published] }
          assert_equal expected, rows.slice(*expected.keys), suite
        end
        assert_equal [12, 8], %w[published-b published-c].map { |suite| printed(suite).comparison.rows.size }
      end

      private

      def printed(suite)
        plan = Bench::Plan.new(suite: Suites.fetch(suite), rows: [])
        findings = SuiteReport::Findings.new(plan, Bench::Samples.new)
        SuiteReport::PublishedFindings.new(plan, findings)
      end
    end
  end
end
