# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/conductor"
require "larder/lab/progress"
require "larder/lab/suites"
require "shellwords"
require "stringio"

module Larder
  module Lab
    module Bench
      # The ratio of two rows in one block, by the kernel and by hyperfine, which times whole processes. Other
      # load changes the times, and hardly the ratio.
      class HyperfineTest < ActiveSupport::TestCase
        SUITE = "calls"
        BLOCK = "fetch_hit"
        # Rows, and calls of a short run: a fraction of a second each. A long run has LONG times as many; the difference
        # of both has no start-up in it.
        CALLS = { "memory" => 30_000, "floor" => 200_000 }.freeze
        LONG = 3
        LIBRARY = File.expand_path("../../../../lib", __dir__)
        SESSIONS = 5
        # Intervals that agree and reach further than this factor from their middle show little.
        COARSEST = 1.4

        slow_test "hyperfine finds the ratio of two rows that the kernel finds" do
          skip "hyperfine is not installed (Debian: apt-get install hyperfine)" unless program?("hyperfine")

          ours = by_kernel
          theirs = by_hyperfine
          told = [ours, theirs].map { |one| [one.low, one.value, one.high].map { |number| number.round(2) } }.inspect
          assert ours.low <= theirs.high && theirs.low <= ours.high, told
          skip "this machine was too busy: #{told}" if [ours, theirs].any? { |one| one.high > one.value * COARSEST }
        end

        private

        def program?(name)
          ENV.fetch("PATH").split(File::PATH_SEPARATOR).any? { |dir| File.executable?(File.join(dir, name)) }
        end

        def by_kernel
          suite = Suites.fetch(SUITE)
          plan = Plan.new(suite: suite, rows: CALLS.keys, blocks: [suite.fetch(BLOCK)], sessions: SESSIONS, passes: 6,
                          seed: 1, size: Contender::SIZE)
          samples = Samples.new
          Conductor.new(plan, samples, progress: Progress.new(StringIO.new)).run
          Stats.ratio(*CALLS.keys.map { |row| samples.of(row, BLOCK) })
        end

        # Processor time of each process, because the wait for a processor is not the block's.
        def by_hyperfine
          ratios = Array.new(SESSIONS) do |session|
            runs = CALLS.keys.product([1, LONG])
            runs.reverse! if session.odd?
            seconds = runs.zip(hyperfine(runs)).to_h
            Math.log(CALLS.keys.map { |row| (seconds[[row, LONG]] - seconds[[row, 1]]) / CALLS[row] }.reduce(:/))
          end
          Stats.estimate(ratios)
        end

        # @return [Array<Float>] seconds of each
        def hyperfine(runs)
          with_directory do |dir|
            file = File.join(dir, "times.json")
            commands = runs.map { |row, times| command(row, CALLS[row] * times) }
            out, status = Open3.capture2e("hyperfine", "--shell", "none", "--runs", "1", "--export-json", file,
                                          *commands)
            assert_predicate status, :success?, out
            JSON.parse(File.read(file))["results"].map { |one| one["user"] + one["system"] }
          end
        end

        def command(row, calls)
          ["env", *Preloader::WARM_HEAP.map { |name, value| "#{name}=#{value}" }, RbConfig.ruby, "-I",
           LIBRARY, fixture("calls_of_block"), row, SUITE, BLOCK, calls.to_s].shelljoin
        end
      end
    end
  end
end
