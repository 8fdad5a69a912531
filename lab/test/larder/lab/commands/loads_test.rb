# frozen_string_literal: true

require "test_helper"
require "support/reported_runs"

module Larder
  module Lab
    module Commands
      # Stores under load for real, in processes of their own, from the command line to the report.
      class LoadsTest < ActiveSupport::TestCase
        include ReportedRuns

        slow_test "a server is measured by threads and by processes, and none is left" do
          skip "redis-server is not installed" unless Servers.fetch("redis").path
          report, out = run_of("scaling", "--only", "redis,file", "--rounds", "1", "--seconds", "0.05",
                               "--threads", "1,2", "--processes", "1,3")
          assert_match(/^Hits, by threads/, out)
          assert_match(/^95 hits to 5 writes, by processes/, out)
          blocks = events(report, "block")
          assert_equal 8, blocks.map { |block| block.values_at("callers", "count", "mix") }.uniq.size
          blocks.each { |block| assert_equal block["count"], block["each"].size }
          assert_equal 0, blocks.sum { |block| block["each"].sum { |one| one["block_runs"] } }
          assert_includes measures(report), "scaling/processes/mixed/3/redis"
        end

        test "a store private to a process has one in each" do
          _, out = run_of("scaling", "--only", "memory,null", "--rounds", "1", "--seconds", "0.02", "--threads", "1",
                          "--processes", "2")
          assert_match(/shares nothing with the others: memory, null/, out.gsub(/\s+/, " "))
        end

        slow_test "soak: a full store is measured over time, and one that does not limit itself is stopped" do
          report, out = run_of("soak", "--only", "larder,file", "--minutes", "0.01", "--size", "4MiB")
          assert_equal 20, events(report, "slice").count { |slice| slice["row"] == "larder" }
          assert_operator events(report, "slice").sum { |slice| slice["misses"] }, :>, 0
          assert_match(/file +does not limit itself: takes up \d+ MB on disk/, out)
          assert_includes measures(report), "soak/throughput/larder"
          assert_match(/intervals are over its slices/, out)
          assert_no_match(/single round/, out) # of which it has one, and compares its halves
        end

        slow_test "soak: calls that fail are counted and told" do
          report, out = run_of("soak", "--require", fixture("flaky"), "--only", "flaky", "--minutes", "0.005",
                               "--size", "4MiB")
          failed = events(report, "slice").sum { |slice| slice["errors"].values.sum }
          assert_operator failed, :>, 0
          assert_match(/flaky: #{failed} calls failed: RuntimeError: the store is full/, out)
        end

        slow_test "a wrong value voids its row and fails the run" do
          outcome = lab("scaling", "--rounds", "1", "--seconds", "0.02", "--threads", "1", "--processes", "1",
                        "--require", fixture("liar"), "--only", "memory,liar")
          assert_equal 1, outcome.status
          assert_match(/liar: invalid, a wrong value/, outcome.out)
          assert_match(/^  memory +[\d.]/, outcome.out)
        end

        slow_test "stopped, it leaves no process and no file behind" do
          with_directory do |dir|
            pid = Process.spawn({ "TMPDIR" => dir }, RbConfig.ruby, EXECUTABLE, "scaling", "--only", "file",
                                "--seconds", "30", out: File::NULL, err: File::NULL)
            eventually { processes(dir).size >= 3 }
            Process.kill(:INT, pid)
            assert_equal 130, Process.wait2(pid).last.exitstatus
            eventually { Dir.empty?(dir) && processes(dir).empty? }
          end
        end

        test "what makes no sense is refused, help is not" do
          { ["scaling", "--threads", "1,x"] => /--threads 1,x: numbers of 1 or more/,
            ["scaling", "--seconds", "0"] => /--seconds must be more than 0/,
            ["soak", "--size", "1kb"] => /--size 1kb: at least 4MiB/,
            ["soak", "--only", "x"] => /unknown contender x; known:/ }.each do |arguments, message|
            assert_match(message, assert_raises(UsageError) { options_for(*arguments) }.message)
          end
          %w[scaling soak].each do |command|
            help = options_for(command, "--help").help
            assert_includes help, "Usage: larder-lab #{command}"
            assert_empty(help.lines.map(&:chomp).select { |line| line.size > 80 })
            assert_includes options_for(command, "--list").list, "memory"
          end
        end

        private

        def options_for(command, *arguments)
          options_of(Commands.fetch(command), *arguments)
        end

        def run_of(*arguments)
          run_reported(*arguments, "--seed", "1")
        end
      end
    end
  end
end
