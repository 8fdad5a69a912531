# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/plan"
require "larder/lab/suite_report/published_findings"
require "larder/lab/suites"
require "support/simulated_turns"

module Larder
  module Lab
    module SuiteReport
      class PublishedFindingsTest < ActiveSupport::TestCase
        SUITE = "published-a"
        BLOCKS = %w[miss hit miss_published hit_published].freeze
        # Seconds of a call in units of Redis' time, as the article found them.
        AS_PUBLISHED = { "redis" => 1.0, "memcached" => 1.0, "valkey" => 1.5, "dicedb" => 1.5, "litecache" => 0.25,
                         "solid_cache-postgresql" => 2.0 }.freeze

        test "each has the same ratio as measured here, and whether that agrees" do
          found = comparison(AS_PUBLISHED).rows.to_h { |name, *cells| [name, cells] }
          assert_agrees "as published", 4.0, found.fetch("litecache/redis: hit, 1 thread")
          assert_agrees "as published", 1.5, found.fetch("redis/valkey: miss, 1 thread")
          assert_agrees "as published", 1.0, found.fetch("memcached/redis: hit, 1 thread")
          assert_agrees "otherwise", 1.5, found.fetch("valkey/memcached: hit, 5 as published").then { |cells|
            [cells[0], cells[1].merge("value" => 1 / cells[1]["value"]), cells[2]]
          }
          assert_equal ["far more", "not measured", ""], found.fetch("redis/dragonfly: hit, 1 thread")
        end

        test "a published factor that the interval does not hold is more or less so" do
          { 0.5 => "less so", 0.1 => "more so" }.each do |factor, words|
            found = comparison({ "redis" => 1.0, "litecache" => factor }).rows.first
            assert_equal ["litecache/redis: hit, 1 thread", words], found.values_at(0, 3)
          end
        end

        test "a finding about several rows shows the one that differs least" do
          found = comparison(AS_PUBLISHED).rows.to_h { |name, *cells| [name, cells] }
          assert_agrees "as published", 2.0 / 1.5, found.fetch("next/pg: miss, 1 thread")
          assert_agrees "otherwise", 1.0, found.fetch("redis/next: hit, 5 as published")
        end

        test "a finding about two blocks compares one row with itself" do
          slowed = { %w[litecache miss] => 3.0 }
          found = comparison(AS_PUBLISHED, slowed: slowed).rows.to_h { |name, *cells| [name, cells] }
          assert_agrees "as published", 3.0, found.fetch("litecache, miss: 5 threads/1")
        end

        test "where nothing was published, the ratio measured here is shown without a comparison" do
          rows = { "solid_cache-postgresql-prewarmed" => 1.0, "solid_cache-postgresql-tuned" => 1.3 }
          found = comparison(rows).rows.find { |row| row[1] == "not given" }
          assert_agrees "", 1.3, found.drop(1)
        end

        test "the opposite of a finding is reversed, and a busy machine claims nothing" do
          found = comparison({ "redis" => 1.0, "litecache" => 2.0 }).rows.first
          assert_equal ["litecache/redis: hit, 1 thread", "reversed"], found.values_at(0, 3)
          busy = comparison({ "redis" => 1.0, "litecache" => 1.0 }, turn: 1.0, process: 0.6, disturbed: 0.5)
          assert_equal ["too busy to tell", ""], busy.rows.first.drop(2)
        end

        test "seconds of all calls are a table, with every row that was measured" do
          table = published(AS_PUBLISHED).totals
          assert_equal AS_PUBLISHED.keys.sort, table.rows.map(&:first).sort
          assert_match(/Seconds of 100,000 calls, mean of the first 5 sessions/, table.caption)
          redis = table.rows.find { |row| row.first == "redis" }
          redis.drop(1).each { |seconds| assert_in_delta 1.0, seconds, 0.3 }
        end

        private

        def comparison(...) = published(...).comparison

        def published(factors, **how)
          plan = Bench::Plan.new(suite: Suites.fetch(SUITE), rows: factors.keys)
          samples = SimulatedTurns.new(factors, seed: 5, blocks: BLOCKS, **how).samples
          PublishedFindings.new(plan, Findings.new(plan, samples))
        end

        def assert_agrees(agreement, ratio, (_published, here, verdict))
          assert_in_delta 1.0, here["value"] / ratio, 0.1
          assert_equal agreement, verdict
        end
      end
    end
  end
end
