# frozen_string_literal: true

require "test_helper"
require "support/reported_runs"

module Larder
  module Lab
    module Commands
      # First requests for real, in processes of their own.
      class DeployTest < ActiveSupport::TestCase
        include ReportedRuns

        test "a restart computes again what was in the process alone, an emptied cache everything" do
          report, out = run_reported("deploy", "--sessions", "1", "--passes", "1", "--seed", "1", "--only",
                                     "larder,memory,file")
          figures = %w[larder memory file].to_h do |row|
            [row, report["chapters"].first.dig("details", "recorded", row, "figures")]
          end
          all = figures["memory"]["emptied"]["computed"].first
          assert_operator all, :>, 50
          figures.each_value { |blocks| assert_equal [all] * 2, blocks["emptied"]["computed"] }
          restarted = figures.transform_values { |blocks| blocks["restart"]["computed"] }
          assert_equal({ "larder" => [0, 0], "memory" => [all] * 2, "file" => [0, 0] }, restarted)
          assert_match(/^  first 50 requests: after a restart\n +computed +a request\n/, out)
          assert_match(/^  memory +#{all} +[\d.]+ ms$/, out)
        end
      end
    end
  end
end
