# frozen_string_literal: true

require "test_helper"
require "larder/lab/commands/stores_options"

module Larder
  module Lab
    module Commands
      class StoresOptionsTest < ActiveSupport::TestCase
        test "by default every contender and every workload takes part that is not for request only" do
          settings = parse
          assert_equal Contenders.usual, settings.contenders
          assert_equal Workloads.usual, settings.workloads
          assert_not_includes settings.workloads, "large"
          assert_includes parse("--only", "larder,redis-loopback").contenders, "redis-loopback"
          assert_operator settings.rounds, :>=, 5
          assert_operator settings.block_seconds, :>=, 1.0
        end

        test "published means the published n, one lap, and the two published workloads" do
          settings = parse("--published")
          assert_equal [100_000, 5, 5, nil], settings.to_h.values_at(:count, :threads, :rounds, :block_seconds)
          assert_equal ["one-thread", "threads-as-published"], settings.workloads
        end

        test "quick is limited in time, unless an exact size is asked for" do
          assert_operator parse("--quick").limit_seconds, :<, 60
          assert_nil parse("--quick", "--n", "50").limit_seconds
          assert_nil parse("--quick", "--seconds", "1").limit_seconds
        end

        test "blocks last as long as asked for, and the laps of slow stores end in proportion" do
          usual = parse
          half = parse("--seconds", "0.5")
          assert_equal [usual.block_seconds / 2, usual.lap_seconds / 2], [half.block_seconds, half.lap_seconds]
          assert_nil parse("--seconds", "0.5", "--n", "50").lap_seconds
          assert_equal 0.5, parse("--published", "--seconds", "0.5").block_seconds
        end

        test "contenders are chosen and left out by name" do
          assert_equal ["redis", "larder"], parse("--only", "redis,larder").contenders
          assert_equal Contenders.usual - ["file", "null"], parse("--except", "file,null").contenders
        end

        test "an unknown name is an error that lists the known ones" do
          ["--only", "--except", "--base"].each do |option|
            assert_match(/unknown contender bogus; known: larder, larder-tmpfs, memory, file/, refusal(option, "bogus"))
          end
          assert_match(/unknown workload bogus; known: pages, fragments/, refusal("--workloads", "bogus"))
        end

        test "what makes no sense is refused with the option's name" do
          assert_match(/--n must be 1 or more, not 0/, refusal("--n", "0"))
          assert_match(/--seconds must be more than 0, not 0.0/, refusal("--seconds", "0"))
          assert_match(/invalid argument: --rounds x/, refusal("--rounds", "x"))
          assert_match(/--n 3 is less than one call for each of 5 threads/, refusal("--n", "3"))
          assert_match(/--quick and --published exclude each other/, refusal("--quick", "--published"))
          assert_match(/--base redis is not among the contenders: file/, refusal("--only", "file", "--base", "redis"))
          assert_match(/leave no contender/, refusal("--only", "file", "--except", "file"))
          assert_match(/unexpected argument redis/, refusal("redis"))
          assert_match(/invalid option: --qui/, refusal("--qui"))
          assert_match(/--require nothing_like_it/, refusal("--require", "nothing_like_it"))
        end

        test "without a seed there is one, so that the run can be repeated" do
          assert_kind_of Integer, parse.seed
          assert_equal 12, parse("--seed", "12").seed
        end

        test "a quick run goes without what is slow to start, and names it; asked for, it takes part" do
          quick = StoresOptions.parse(["--quick"])
          assert_equal ["solid_cache-postgresql", "solid_cache-postgresql-tuned"], quick.left_out
          assert_empty quick.settings.contenders & quick.left_out
          named = StoresOptions.parse(["--quick", "--only", "solid_cache-postgresql"])
          assert_equal [[], ["solid_cache-postgresql"]], [named.left_out, named.settings.contenders]
          assert_empty StoresOptions.parse([]).left_out
        end

        test "help explains the passes, the tables and the exit codes within 80 columns" do
          help = StoresOptions.parse(["--help"]).help
          ["Pass 1", "How to read", "Exit codes", "--published"].each { |text| assert_includes help, text }
          assert_empty(help.lines.map(&:chomp).select { |line| line.size > 80 })
        end

        private

        def parse(*arguments)
          StoresOptions.parse(arguments).settings
        end

        def refusal(*arguments)
          assert_raises(UsageError) { parse(*arguments) }.message
        end
      end
    end
  end
end
