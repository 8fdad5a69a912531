# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      class OverviewTest < ActiveSupport::TestCase
        test "applications and stores are chapters of one report" do
          with_directory do |dir|
            file = File.join(dir, "run.json")
            outcome = lab("overview", "--sessions", "1", "--passes", "1", "--turn-ms", "1", "--only", "memory",
                          "--blocks", "json,hit", "--json", file)
            assert_equal 0, outcome.status, outcome.err
            report = JSON.parse(File.read(file))
            assert_equal "larder-lab overview --sessions 1 --passes 1 --turn-ms 1 --only memory --blocks json,hit " \
                         "--json #{file}", report["command_line"]
            assert outcome.out.start_with?(Document::QUESTION)
            chapters = report["chapters"]
            assert_equal(%w[applications published-a], chapters.map { |chapter| chapter["key"] })
            measured = chapters.map { |chapter| chapter.dig("details", "samples").map { |turn| turn["block"] }.uniq }
            assert_equal [["json"], ["hit"]], measured
          end
        end
      end
    end
  end
end
