# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/plan"
require "larder/lab/suite_report/findings"
require "larder/lab/suites"
require "support/simulated_turns"

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
          [1.0, {}] => [/\Ano difference that matters between MemoryStore and Larder \(1\.\S+ \(\S+–1\.0\d/, true],
          [1.05, {}] => [/\Ano difference that matters between MemoryStore and Larder \(1\.\S+ \(\S+–1\.0\d/, false],
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

        test "a row that broke the rules in a later session has no times, and is not what others are compared with" do
          absent = { "larder" => Bench::Absence.new(state: :invalid, reason: "a wrong value"),
                     "redis" => Bench::Absence.new(state: :unavailable, reason: "its server ended") }
          findings = findings({ "larder" => 1.0, "memory" => 3.0, "redis" => 9.0 }, absent: absent)
          assert_equal %w[memory redis], findings.rows
          assert_equal ["memory", %w[memory redis]], [findings.base, findings.ranking(HIT)]
          assert_nil findings.ratio("larder", HIT)
          assert_nil findings.total("larder", HIT, calls: 1, runs: 1)
        end

        test "a total is the mean of sessions, of as many as were published" do
          findings = findings({ "larder" => 1.0 }, sessions: 7)
          assert_in_delta 1.0, findings.total("larder", HIT, calls: 100_000, runs: 5), 0.2
          first = findings.total("larder", HIT, calls: 1, runs: 1)
          assert_not_equal first, findings.total("larder", HIT, calls: 1, runs: 7)
          assert_nil findings.total("larder", MISS, calls: 1, runs: 1)
        end

        private

        def findings(factors, base: nil, absent: {}, **how)
          plan = Bench::Plan.new(suite: Suites.fetch("published-a"), rows: %w[larder memory file redis] & factors.keys)
          samples = SimulatedTurns.new(factors, seed: 3, blocks: ["hit"], **how).samples
          Findings.new(plan, samples, Run.new(absent: absent), base: base)
        end
      end
    end
  end
end
