# frozen_string_literal: true

require "test_helper"
require "support/session_runs"

module Larder
  module Lab
    module Commands
      # Questions about sessions for real, on real servers, from the command line to the report.
      class SessionStatsTest < ActiveSupport::TestCase
        include SessionRuns

        COMMAND = "session-stats"
        SMALL = %w[session-stats --sessions 1 --passes 1 --turn-ms 1 --seed 1].freeze

        setup do
          skip "the gems of lab/gemfiles/sessions.gemfile are not installed" unless installed?("sessions")
        end

        slow_test "every question is answered rightly by every contender, and no process and no file is left" do
          names = Lab::SessionStats::Stores.names.select { |name| here?(Lab::SessionStats::Stores.fetch(name)) }
          report, out = run_of("--only", names.join(","))
          assert_no_match(/invalid/, out)
          blocks = [*Lab::SessionStats::QUESTIONS.keys, :use]
          measured = names.product(blocks).map { |name, block| "session-questions/#{block}/#{name}" }
          assert_empty measured - measures(report)
          assert_match(/^  larder +\d+ +[\d.]+ [mµ]s/, out)
        end

        slow_test "a wrong answer voids its row, and the others go on" do
          outcome = lab(*SMALL, "--require", fixture("miscounting"), "--only", "larder,miscounting,heedless",
                        env: { "COLUMNS" => "200" })
          assert_equal 1, outcome.status
          assert_match(/miscounting: invalid, a wrong value: sessions active in five minutes/, outcome.out)
          assert_match(/heedless: invalid, a wrong value: sessions used just now are \d+ instead of \d+/, outcome.out)
          assert_match(/^  larder +\d+ +[\d.]+ [mµ]s/, outcome.out)
        end
      end
    end
  end
end
