# frozen_string_literal: true

require "test_helper"
require "support/session_runs"

module Larder
  module Lab
    module Commands
      # Questions about sessions for real, on real servers, from the command line to the report.
      class SessionStatsTest < ActiveSupport::TestCase
        include SessionRuns

        COMMAND = SessionStats
        SMALL = %w[session-stats --rounds 1 --seed 1 --seconds 0.01 --sizes 500].freeze
        QUESTIONS = Lab::SessionStats::Times::QUESTIONS.keys

        setup do
          skip "the gems of lab/gemfiles/sessions.gemfile are not installed" unless installed?("sessions")
        end

        slow_test "every question is answered rightly by every contender, and no process and no file is left" do
          report, out = run_of("--only", contenders.join(","))
          rows = [*contenders, "larder (A/A)"]
          blocks = events(report, "block")
          assert_equal rows.product(QUESTIONS).sort, blocks.map { |block| block.values_at("row", "question") }.sort
          blocks.each { |block| assert_operator block["calls"], :>, 0 }
          assert_match(/^  is a user logged in, who is not +[\d.]+ /, out)
          assert_match(/^  noting a use, µs +≤ 1\.5 +[\d.,]+ +not shown$/, out)
          assert_match(/Not measured: 10,000 and 1,000,000 sessions/, out)
          loaded = events(report, "loaded").map { |event| event["row"].delete_suffix(" (A/A)") }
          assert_equal contenders.sort, loaded.sort
          keys = [*QUESTIONS, "bytes"].product(contenders).map { |pair| "session-stats/500/#{pair.join("/")}" }
          assert_empty keys - measures(report)
        end

        slow_test "what was loaded is asked about in all rounds and by both measurements, at each size" do
          report, out = run_of("--only", "larder", "--rounds", "2", "--sizes", "2000,500")
          assert_equal [500, 2000], events(report, "loaded").map { |event| event["size"] }
          assert_equal 2 * 2 * 2 * QUESTIONS.size, events(report, "block").size
          assert_match(/^500 sessions$/, out)
          assert_match(/^2,000 sessions$/, out)
          assert_match(/^  larder, 2,000 sessions +wanted/, out)
          curves = report["chapters"].first["sections"].flat_map { |section| section["blocks"] }
                                     .select { |block| block["kind"] == "curves" }
          assert_equal([[500, 2000]], curves.map { |block| block["series"][0]["points"].map(&:first) }.uniq)
        end

        slow_test "a wrong answer voids its row, and the others go on" do
          outcome = lab(*SMALL, "--require", fixture("miscounting"), "--only", "larder,miscounting,heedless")
          assert_equal 1, outcome.status
          words = outcome.out.gsub(/\s+/, " ")
          assert_match(/miscounting: invalid, a wrong value: 1\d+ sessions in the last 300 s, which are \d+\.\.\d+/,
                       words)
          assert_match(/heedless: invalid, a wrong value: sessions used just now has \d+ instead of \d+/, words)
          assert_match(/^  is a user logged in, who is +[\d.]/, outcome.out)
        end

        slow_test "in running servers the lab's place is gone at the end" do
          skip "mariadbd is not installed" unless contenders.include?("sql-mariadb")
          with_directory do |dir|
            server = Servers.fetch("mariadb").new(dir).start
            outcome = lab(*SMALL, "--rounds", "2", "--only", "sql-mariadb", "--mariadb-url", server.endpoint["url"])
            assert_equal 0, outcome.status, outcome.out + outcome.err
            assert_match(/^  is a user logged in, who is +[\d.]/, outcome.out)
            out, = Open3.capture2("mariadb", "--no-defaults", "-uroot", "-N", "-S", server.endpoint["socket"], "-e",
                                  "SHOW DATABASES")
            refute_match(/larder_lab/, out)
          ensure
            server&.stop
          end
        end

        test "what makes no sense is refused, help is not" do
          { ["--only", "x"] => /unknown contender x; known: larder, sql-mariadb, sql-postgresql/,
            ["--sizes", "99"] => /--sizes must be 100 or more, not 99/,
            ["--sizes", "1k"] => /--sizes 1k: numbers of 1 or more/,
            ["--rounds", "0"] => /--rounds must be 1 or more/ }.each do |arguments, message|
            assert_match(message, assert_raises(UsageError) { options_for(*arguments) }.message)
          end
          help = options_for("--help").help
          assert_empty(help.lines.map(&:chomp).select { |line| line.size > 80 })
          refute_includes help, "--redis-url"
          assert_equal [10_000], options_for("--quick").plan.settings[:sizes]
          assert_equal [10_000, 1_000_000], options_for.plan.settings[:sizes]
          assert_equal [10_000], options_for(*All::Options.new.arguments_for("session-stats")).plan.settings[:sizes]
        end

        private

        # Those whose server is here and whose gems are installed.
        def contenders
          Lab::SessionStats::Stores.names.select { |name| here?(Lab::SessionStats::Stores.fetch(name)) }
        end
      end
    end
  end
end
