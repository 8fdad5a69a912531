# frozen_string_literal: true

require "test_helper"
require "support/reported_runs"

module Larder
  module Lab
    module Commands
      # Single calls for real, in processes of their own, from the command line to the report.
      class LatencyTest < ActiveSupport::TestCase
        include ReportedRuns

        SMALL = %w[latency --seed 1 --sessions 1 --rate 400 --block-seconds 0.1].freeze

        test "all stores get calls at one rate, and the report holds every histogram" do
          report, out = run_reported(*SMALL, "--only", "memory,larder")
          assert_match(/^Hits at a rate$/, out)
          assert_match(/^  larder +[\d.,]+ [µn]s +–/, out)
          assert_match(/rate 400, block seconds 0.100/, out.gsub(/\s+/, " "))
          found = figures(report)["larder"]
          assert_equal %w[hit_at_rate hit_closed miss_at_rate miss_closed], found.keys.sort
          histograms = found.transform_values do |block|
            block["histogram"].map do |part|
              Histogram.from_h(part).count
            end
          end
          assert_equal [[40, 40]] * 2, histograms.values_at("hit_at_rate", "miss_at_rate")
          assert_operator histograms["hit_closed"].min, :>, 40
        end

        test "a store that cannot keep up is named, and one that lies is invalid" do
          outcome = lab(*SMALL, "--require", fixture("liar"), "--only", "memory,liar")
          assert_equal 1, outcome.status
          assert_match(/liar: invalid, a wrong value: "Hello Mars!" of call \d+/, outcome.out.gsub(/\s+/, " "))
          assert_match(/^  memory +[\d.]/, outcome.out)
          fast = ["--rate", "1000000", "--block-seconds", "0.01"]
          late = lab(*SMALL, *fast, "--only", "file", "--blocks", "hit_at_rate")
          assert_match(/Could not keep up with the rate of hits at a rate: file/, late.out)
        end

        test "a rate and seconds that make no sense are refused" do
          { ["--rate", "0"] => /--rate must be more than 0/,
            ["--block-seconds", "61"] => /--block-seconds must be 60 or less, not 61/ }.each do |arguments, message|
            assert_match(message, assert_raises(UsageError) { options_of("latency", *arguments) }.message)
          end
          help = options_of("latency", "--help").help
          assert_empty(help.lines.map(&:chomp).select { |line| line.size > 80 })
        end
      end
    end
  end
end
