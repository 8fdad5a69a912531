# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/conductor"
require "larder/lab/bench/verdict"
require "larder/lab/progress"
require "larder/lab/suites"
require "stringio"
require_relative "../../../fixtures/liar"

module Larder
  module Lab
    module Bench
      # Real processes, which take few turns.
      class ConductorTest < ActiveSupport::TestCase
        test "the reference loop takes no turns where no row does" do
          measure("gemless")
          assert_empty @samples
        end

        test "a store that prints to standard output is measured" do
          measure("chatty")
          assert_empty @conductor.absent
          assert_not_empty @samples.of("chatty", "hit").sessions
        end

        test "a process that does not answer is ended at once, and leaves nothing behind" do
          with_directory do |dir|
            plan = Plan.new(suite: Suites.fetch("published-a"), rows: %w[sleeper], requires: [fixture("liar")])
            preloaders = Preloader::Group.new("published-a", dir)
            seat = Seat.new("sleeper", 0, plan: plan, dir: File.join(dir, "seat"), preloaders: preloaders, files: nil,
                                          timeout: 0.2).tap(&:start)
            assert_match(/did not answer within 0.2 s/, assert_raises(Invalid) { seat.opened }.message)
            assert_match(/was killed by signal 9/, assert_raises(Invalid) { seat.answer }.message)
            seat.leave
            preloaders.stop
            assert_empty processes(dir)
          end
        end

        test "cold calls meet entries that another process has stored; a private store has none" do
          measure("memory", "file", suite: "applications", blocks: %w[cold])
          assert_empty @conductor.absent
          assert_equal [["file", 50], ["reference", 10]], @samples.map { |turn| [turn.row, turn.calls] }.uniq.sort
        end

        test "a run that takes longer than it may has fewer passes, and says where its time went" do
          measure("memory", sessions: 2, passes: 5, limit_seconds: 0.001)
          assert_equal [2, 2], [0, 1].map { |session| @samples.of("memory", "hit").logarithms(session).size }
          assert_equal Pace::KINDS, @conductor.spent.keys
          assert(@conductor.spent.each_value.all?(&:positive?))
        end

        test "a codec that loses a byte is found at the payload" do
          measure("none", "bent", suite: "published-b", blocks: %w[compress_given], given: "ruby:'x' * 90_000")
          reasons = @conductor.absent.transform_values { |absence| [absence.state, absence.block, absence.reason] }
          assert_equal({ "bent" => [:invalid, "compress, given",
                                    "a wrong value: the payload given did not come back as it was"] }, reasons)
          assert_equal %w[none reference], @samples.map(&:row).uniq.sort
        end

        test "a payload that cannot be made, or serialized, leaves out the block, and not the row" do
          { "ruby:[1," => /the payload cannot be made: SyntaxError/,
            "ruby:proc {}" => /the payload cannot be serialized: TypeError: no _dump_data/ }.each do |given, reason|
            measure("marshal", suite: "published-c", blocks: %w[dump_given], given: given)
            assert_empty @conductor.absent
            assert_match reason, @conductor.skipped.fetch(%w[marshal dump_given])
          end
        end

        test "the memory of a server is weighed before anything is stored, also entries for first calls" do
          needs_server("redis")
          measure("redis", suite: "calls", blocks: %w[write_cold])
          assert_empty @conductor.absent
          before, after = @conductor.recorded.dig("redis", "memory").values_at("before", "after")
          assert_equal [2, 2], [before.size, after.size]
          assert_operator before.max + Suites::Calls::LONG, :<, after.min
        end

        test "of several blocks of first calls each has a process of its own, and slow blocks have one pass" do
          needs_server("redis")
          measure("binary", suite: "published-d", passes: 2, size: 50 << 20,
                            blocks: %w[first_read_50 first_write_50 read_50 write_50000])
          assert_empty @conductor.absent
          taken = @samples.select { |turn| turn.row == "binary" }.group_by(&:block)
          assert_equal({ "first_read_50" => [1, 1], "first_write_50" => [1, 1], "read_50" => [0, 0, 1, 1] },
                       taken.slice("first_read_50", "first_write_50").transform_values { |all| all.map(&:calls) }
                            .merge(taken.slice("read_50").transform_values { |all| all.map(&:pass).sort }))
          assert_equal [0, 0], taken["write_50000"].map(&:pass)
          figures = @conductor.recorded.dig("binary", "figures", "write_50000")
          assert_equal [2, 2, 2], figures.values_at("bytes", "memory", "answering").map(&:size)
          assert_equal [1, 1], figures["keeps"]
          assert_operator figures["memory"].first, :>=, figures["bytes"].first
          assert_includes 4_500_000..5_500_000, figures["bytes"].first
        end

        private

        def measure(*rows, suite: "published-a", blocks: %w[hit write], sessions: 1, passes: 1, size: 4 << 20,
                    given: nil, **fields)
          suite = Suites.fetch(suite)
          suite.choose({ given: given }.compact)
          plan = Plan.new(suite: suite, rows: rows, blocks: blocks.map { |key| suite.fetch(key) }, sessions: sessions,
                          passes: passes, turn_seconds: 0.0005, seed: 1, size: size,
                          requires: [fixture("liar")], **fields)
          @samples = Samples.new
          @conductor = Conductor.new(plan, @samples, progress: Progress.new(StringIO.new))
          @conductor.run
        end
      end
    end
  end
end
