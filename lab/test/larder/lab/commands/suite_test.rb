# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      class SuiteTest < ActiveSupport::TestCase
        BOTH = %w[applications published-a].freeze

        test "by default every usual contender and every block takes part, in enough sessions to show a difference" do
          plan = parse.plans.first
          assert_equal [*Contenders.usual, "solid_cache-postgresql-prewarmed"], plan.rows
          assert_equal Suites.fetch("published-a").blocks, plan.blocks
          assert_operator plan.sessions, :>=, Bench::Verdict::LEAST_SESSIONS
          assert_operator parse("--quick").plans.first.sessions, :>=, Bench::Verdict::LEAST_SESSIONS
        end

        test "two suites are two plans, which share the time" do
          plans = both("--seconds", "100").plans
          assert_equal(BOTH, plans.map { |plan| plan.suite.key })
          assert_equal [50.0, 50.0], plans.map(&:limit_seconds)
          assert_equal 300, both.plans.sum(&:limit_seconds)
          assert_operator options_of("applications", "--quick").plans.sum(&:limit_seconds), :<=, 60
        end

        test "--seconds limits each suite, also one that has settings of its own" do
          (All.parts - ["hitratio"]).each do |name|
            assert_in_delta 7, options_of(name, "--seconds", "7").plans.sum(&:limit_seconds), 0.01, name
          end
        end

        test "a suite has its own rows besides the usual ones, unless they are left out or others are named" do
          rows = ->(*arguments) { both(*arguments).plans.map(&:rows) }
          slow = Contenders.usual.select { |name| Contenders.fetch(name).slow_to_start? }
          own = ["larder-redis"]
          assert_equal [Contenders.usual - slow + own, [*Contenders.usual, "solid_cache-postgresql-prewarmed"]], rows[]
          assert_equal([], rows["--quick"].flatten.uniq.select { |name| Contenders.fetch(name).slow_to_start? })
          assert_equal [slow] * 2, rows["--only", slow.join(",")]
          assert_equal [["redis"], ["redis"]], rows["--only", "redis"]
          assert_not_includes rows["--except", "larder-redis"].first, "larder-redis"
          assert_equal [["larder-redis"]] * 2, rows["--only", "larder-redis"]
        end

        test "the list marks only rows that take part where they are named" do
          marked = parse("--list").list.grep(/\(\*\)$/).map { |line| line[/\S+/] }
          assert_includes marked, "larder-redis"
          assert_not_includes marked, "solid_cache-postgresql-prewarmed"
        end

        test "a file that cannot be loaded is named, with its line and what is wrong" do
          { "Nothing.new" => /other.rb: \S+other.rb:1: NameError: uninitialized constant Nothing/,
            "def x(" => /other.rb: \S+other.rb:1: syntax error/,
            "raise 'no port'" => /other.rb: \S+other.rb:1: RuntimeError: no port/ }.each do |text, message|
            with_directory do |dir|
              File.write(file = File.join(dir, "other.rb"), text)
              run = here("stores", "--list", "--require", file)
              assert_equal 2, run.status
              assert_match message, run.err
            end
          end
        end

        test "a suite of whose blocks none is chosen is left out" do
          plans = both("--blocks", "page,hit").plans
          assert_equal([%w[applications page], %w[published-a hit]],
                       plans.map { |plan| [plan.suite.key, *plan.blocks.map(&:key)] })
          assert_equal %w[published-a], both("--blocks", "hit").plans.map { |plan| plan.suite.key }
        end

        test "an exact amount is not limited in time, unless a limit is asked for" do
          plan = parse("--sessions", "2", "--passes", "9", "--turn-ms", "5").plans.first
          assert_equal [2, 9, 0.005, nil], plan.to_h.values_at(:sessions, :passes, :turn_seconds, :limit_seconds)
          assert_equal 30, parse("--sessions", "2", "--seconds", "30").plans.first.limit_seconds
        end

        test "a quick run goes without stores that are slow to start; named, they take part" do
          assert_equal %w[solid_cache-postgresql solid_cache-postgresql-tuned solid_cache-postgresql-prewarmed],
                       parse("--quick").left_out
          assert_empty parse("--quick", "--only", "solid_cache-postgresql").left_out
          assert_empty options_of("machines", "--quick").left_out, "they take part in no run of this suite"
        end

        private

        def parse(...) = options_of("stores", ...)

        def both(...) = options_of("overview", ...)
      end
    end
  end
end
