# frozen_string_literal: true

require "test_helper"
require "support/reported_runs"

module Larder
  module Lab
    module Commands
      # More and more callers for real, from the command line to the report.
      class ScalingTest < ActiveSupport::TestCase
        include ReportedRuns

        SMALL = %w[scaling --quick --seed 1].freeze

        test "a server and a file are measured by threads and by processes" do
          skip "redis-server is not installed" unless Servers.fetch("redis").path
          report, out = run_reported(*SMALL, "--only", "redis,file")
          assert_match(/^Hits, by threads/, out)
          assert_match(/^  redis +[\d,]+.* +[\d,]+.* +[\d,]+/, out)
          found = figures(report)
          assert_equal %w[hit_processes hit_threads mixed_processes mixed_threads], found["redis"].keys.sort
          found["file"].each_value do |block|
            assert_equal %w[1 2 4 apart], block.keys
            assert(block.values.all? { |values| values.size == 2 && values.all?(&:positive?) })
          end
          assert_includes measures(report), "scaling/mixed_processes/4/redis"
        end

        test "a store that keeps nothing has times of its own, and one that lies voids its row and fails the run" do
          outcome = lab(*SMALL, "--blocks", "hit_processes", "--require", fixture("liar"), "--only", "null,loser")
          assert_equal 1, outcome.status
          assert_match(/loser: invalid, a wrong value: :lost instead of "Hello World! \d+"/,
                       outcome.out.gsub(/\s+/, " "))
          assert_match(/^  null +[\d,]+/, outcome.out)
        end

        test "the help fits a terminal" do
          assert_empty(options_of("scaling", "--help").help.lines.map(&:chomp).select { |line| line.size > 80 })
        end
      end
    end
  end
end
