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

        # Findings with the same ratio here, and whether that agrees; of several rows the one that differs least.
        RATIOS = { "litecache/redis: hit, 1 thread" => [4.0, "as published"],
                   "redis/valkey: miss, 1 thread" => [1.5, "as published"],
                   "memcached/redis: hit, 1 thread" => [1.0, "as published"],
                   "valkey/memcached: hit, 5 as published" => [1 / 1.5, "otherwise"],
                   "next/pg: miss, 1 thread" => [2.0 / 1.5, "as published"],
                   "redis/next: hit, 5 as published" => [1.0, "otherwise"] }.freeze

        test "each has the same ratio as measured here, and whether that agrees" do
          RATIOS.each { |name, (ratio, agreement)| assert_agrees agreement, ratio, comparison(AS_PUBLISHED)[name] }
          assert_equal ["far more", "not measured", ""], comparison(AS_PUBLISHED)["redis/dragonfly: hit, 1 thread"]
        end

        test "a factor that the interval does not hold is more or less so, and the opposite is reversed" do
          { 0.5 => "less so", 0.1 => "more so", 2.0 => "reversed" }.each do |factor, words|
            found = comparison({ "redis" => 1.0, "litecache" => factor })
            assert_equal words, found["litecache/redis: hit, 1 thread"].last
          end
        end

        test "a finding about two blocks compares one row with itself" do
          found = comparison(AS_PUBLISHED, slowed: { %w[litecache miss] => 3.0 })
          assert_agrees "as published", 3.0, found["litecache, miss: 5 threads/1"]
        end

        test "where nothing was published, the ratio measured here is shown without a comparison" do
          rows = { "solid_cache-postgresql-prewarmed" => 1.0, "solid_cache-postgresql-tuned" => 1.3 }
          assert_agrees "", 1.3, comparison(rows)["pg-tuned, hit: with pg_prewarm/without"]
          summary = published(rows).summary
          assert_match(/, 1 had no published factor\.\z/, summary)
          counts = summary.scan(/\d+/).map(&:to_i)
          assert_equal counts.first, counts.drop(1).sum
        end

        test "a busy machine claims nothing" do
          busy = comparison({ "redis" => 1.0, "litecache" => 1.0 }, turn: 1.0, process: 0.6, disturbed: 0.5)
          assert_equal ["too busy to tell", ""], busy["litecache/redis: hit, 1 thread"].drop(1)
        end

        test "seconds of all calls are a table, with every row that was measured" do
          table = published(AS_PUBLISHED).totals
          assert_equal AS_PUBLISHED.keys.sort, table.rows.map(&:first).sort
          assert_match(/Seconds of 100,000 calls, mean of the first 5 sessions/, table.caption)
          redis = table.rows.find { |row| row.first == "redis" }
          redis.drop(1).each { |seconds| assert_in_delta 1.0, seconds, 0.3 }
        end

        private

        # Cells by the name of a finding.
        def comparison(...) = published(...).comparison.rows.to_h { |name, *cells| [name, cells] }

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
