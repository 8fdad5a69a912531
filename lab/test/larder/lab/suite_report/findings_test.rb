# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module SuiteReport
      # Sentences and cells of simulated runs, whose truth is known.
      class FindingsTest < ActiveSupport::TestCase
        HIT = Suites.fetch("published-a").fetch("hit")
        MISS = Suites.fetch("published-a").fetch("miss")

        test "a difference is a clause with its interval, whichever of the two is named first" do
          findings = findings({ "larder" => 1.0, "redis" => 50.0 })
          [%w[redis larder], %w[larder redis]].each do |row, other|
            assert_match(/\ARedis takes \S+ \(\S+–\S+\) times as long as Larder\z/, findings.clause(row, other, HIT))
          end
          assert_in_delta 50, findings.ratio("redis", HIT).value, 2
          assert_operator findings.cell("redis", HIT)["low"], :>, 40
        end

        # How many times as long the other row takes, with the noise of a run; what is said, and the cell.
        OTHERS = {
          [1.0, {}] => [/\Ano difference that matters between MemoryStore and Larder \(.* 1\.\S+ \(\S+–1\.0\d/, true],
          [1.05, {}] => [/ matters between MemoryStore and Larder \(MemoryStore: 1\.\S+ \(\S+–1\.0\d/, false],
          [1 / 1.05, {}] => [/ matters between MemoryStore and Larder \(Larder: 1\.\S+ \(\S+–1\.0\d/, false],
          [1.0, { process: 0.1 }] => [/\Ano difference is shown between .*; one of \d\S* % would have been\z/, true],
          [1.1, { sessions: 2 }] => [/\Atoo few sessions to tell MemoryStore from Larder\z/, "too few sessions"],
          [1.1, { turn: 1.0, process: 0.6, disturbed: 0.5 }] =>
            [/\Athis machine was too busy to tell MemoryStore from Larder\z/, "too busy to tell"]
        }.freeze

        test "of what is alike, does not matter or is not known, nothing more is claimed" do
          OTHERS.each do |(factor, how), (words, same)|
            findings = findings({ "larder" => 1.0, "memory" => factor }, **how)
            assert_match words, findings.clause("memory", "larder", HIT)
            cell = findings.cell("memory", HIT)
            assert_equal same, cell.is_a?(Hash) ? cell["same"] : cell
          end
        end

        test "a store has a short name, and its key where two would have the same" do
          plan = Bench::Plan.new(suite: Suites.fetch("applications"), rows: %w[redis redis-loopback solid_cache])
          findings = Findings.new(plan, Bench::Samples.new)
          assert_equal ["redis", "redis-loopback", "Solid Cache on SQLite"], plan.rows.map { |row| findings.name(row) }
        end

        test "rows are compared with the one that was asked for, else with larder, else with the first" do
          assert_equal "memory", findings({ "larder" => 1.0, "memory" => 2.0 }, base: "memory").base
          assert_equal "larder", findings({ "memory" => 2.0, "larder" => 1.0 }, base: "redis").base
          assert_equal "memory", findings({ "file" => 2.0, "memory" => 1.0 }).base
          assert_nil findings({}).base
        end

        test "rows are ranked by their time in a block, and those that have none are left out" do
          findings = findings({ "larder" => 1.0, "redis" => 9.0, "memory" => 3.0 })
          assert_equal %w[larder memory redis], findings.ranking(HIT)
          assert_empty findings.ranking(MISS)
          assert_nil findings.seconds("larder", MISS)
          assert_nil findings.cell("redis", MISS)
        end

        test "a row that broke the rules in a later session has no figures, and is not what others are compared with" do
          absent = { "larder" => Bench::Absence.new(state: :invalid, reason: "a wrong value"),
                     "redis" => Bench::Absence.new(state: :unavailable, reason: "its server ended") }
          recorded = absent.transform_values { { "figures" => { "hit" => { "bytes" => [1] } } } }
          findings = findings({ "larder" => 1.0, "memory" => 3.0, "redis" => 9.0 }, absent: absent, recorded: recorded)
          assert_equal %w[memory redis], findings.rows
          assert_equal ["memory", %w[memory redis]], [findings.base, findings.ranking(HIT)]
          assert_nil findings.ratio("larder", HIT)
          assert_nil findings.seconds("larder", HIT)
          assert_equal [nil, 1], %w[larder redis].map { |row| findings.figure(row, HIT, "bytes") }
        end

        private

        def findings(factors, base: nil, absent: {}, recorded: {}, **how)
          plan = Bench::Plan.new(suite: Suites.fetch("published-a"), rows: %w[larder memory file redis] & factors.keys)
          samples = SimulatedTurns.new(factors, seed: 3, blocks: ["hit"], **how).samples
          Findings.new(plan, samples, Run.new(absent: absent, recorded: recorded), base: base)
        end
      end

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
                   "valkey/memcached: hit, 5 threads from 0" => [1 / 1.5, "otherwise"],
                   "next/pg: miss, 1 thread" => [2.0 / 1.5, "as published"],
                   "redis/next: hit, 5 threads from 0" => [1.0, "otherwise"] }.freeze

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
          assert_match(/, 1 without a published factor\.\z/, summary)
          counts = summary.scan(/\d+/).map(&:to_i)
          assert_equal counts.first, counts.drop(1).sum
        end

        test "findings of a published table have the names of its columns" do
          plan = Bench::Plan.new(suite: Suites.fetch("published-e"), rows: %w[sql-mariadb memcached])
          found = PublishedFindings.new(plan, Findings.new(plan, Bench::Samples.new)).comparison.rows.map(&:first)
          assert_includes found, "memcached/SQL: /rezept/cat/Hauptspeise?page=5, off"
        end

        test "a busy machine claims nothing" do
          busy = comparison({ "redis" => 1.0, "litecache" => 1.0 }, turn: 1.0, process: 0.6, disturbed: 0.5)
          assert_equal ["too busy to tell", ""], busy["litecache/redis: hit, 1 thread"].drop(1)
        end

        test "seconds of all calls are a table, with every row that was measured" do
          table = published(AS_PUBLISHED).totals
          assert_equal AS_PUBLISHED.keys.sort, table.rows.map(&:first).sort
          assert_equal "Seconds of 100,000 calls", table.caption
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
