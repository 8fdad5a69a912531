# frozen_string_literal: true

require "test_helper"
require "support/reported_runs"

module Larder
  module Lab
    module Commands
      # Full stores for real, from the command line to the report.
      class SoakTest < ActiveSupport::TestCase
        include ReportedRuns

        SMALL = %w[soak --quick --seed 1 --size 4MiB --seconds 0.3].freeze

        test "a full store is measured over time, and one that does not limit itself is not" do
          report, out = run_reported(*SMALL, "--only", "larder,file")
          found = figures(report).dig("larder", "full")
          %w[rates tails memory disk].each { |name| assert_equal [20, 20], found[name].map(&:size) }
          assert(found["misses"].all?(&:positive?))
          assert_operator found["disk"].flatten.max, :<=, 6 << 20 # 4 MiB, and the statistics
          assert_match(/^  file +not measured: it does not limit itself: it takes \d+ MB on the disk/, out)
          assert_match(/Calls a second over time, least and most: larder/, out.gsub(/\s+/, " "))
          assert_includes measures(report), "soak/full/calls-s/larder"
        end

        test "failed calls are counted and shown" do
          report, out = run_reported(*SMALL, "--require", fixture("flaky"), "--only", "flaky")
          found = figures(report).dig("flaky", "full", "failures")
          failures = found.map { |all| all["RuntimeError: the store is full"] }
          assert(failures.all?(&:positive?))
          assert_match(/#{failures.sum}: RuntimeError: the store is full/, out)
        end

        test "a wrong value voids its row and fails the run" do
          outcome = lab(*SMALL, "--require", fixture("liar"), "--only", "memory,mixer")
          assert_equal 1, outcome.status
          assert_match(/mixer: invalid, a wrong value: "0+7" instead of that of object 1/,
                       outcome.out.gsub(/\s+/, " "))
        end

        test "seconds and a size that make no sense are refused" do
          { %w[--seconds 61] => /--seconds must be 60 or less, not 61/, %w[--only x] => /unknown contender x/,
            %w[--size 1kb] => /--size 1kb: at least 4MiB/ }.each do |arguments, message|
            assert_match(message, assert_raises(UsageError) { options_of("soak", *arguments) }.message)
          end
          assert_empty(options_of("soak", "--help").help.lines.map(&:chomp).select { |line| line.size > 80 })
        end
      end
    end
  end
end
