# frozen_string_literal: true

require "test_helper"
require "support/reported_runs"

module Larder
  module Lab
    module Commands
      # Stampedes for real, from the command line to the report.
      class StampedeTest < ActiveSupport::TestCase
        include ReportedRuns

        test "one caller computes for all, also after the first was killed, and none reads a stranger's value" do
          report, out = run_of("larder-single-flight", "--processes", "2", "--threads", "3", "--block-ms", "100")
          absent, killed = %w[absent killed].map { |kind| events(report, "rush").select { |each| each["of"] == kind } }
          assert_equal 10, absent.size
          assert_predicate killed, :any?
          (absent + killed).each do |event|
            assert_equal [1, 1, 0], event.values_at("runs", "answers", "none")
            assert_equal 6, Histogram.from_h(event["waits"]).count
          end
          events(report, "refresh").each { |event| assert_operator reads_in(event), :>, 0 }
          assert_match(/^The key is absent: 6 callers/, out)
          assert_match(/the block runs: larder-single-flight once/, out)
          assert_includes measures(report), "stampede/absent/runs/larder-single-flight"
        end

        slow_test "in a store without single flight each caller computes" do
          report, out = run_of("memory", "--processes", "2", "--threads", "3", "--block-ms", "100")
          events(report, "rush").each do |event|
            assert_operator event["runs"], :>, 1
            assert_equal event["runs"], event["answers"]
          end
          assert_match(/Each process has a store of its own: memory/, out)
          assert_no_match(/is killed/, out)
        end

        slow_test "dalli's lock answers without a value while another computes" do
          skip "memcached is not installed" unless Servers.fetch("memcached").path
          report, out = run_of("memcached-lock", "--processes", "2", "--threads", "3", "--block-ms", "100")
          absent = events(report, "rush").select { |event| event["of"] == "absent" }
          assert_equal([1], absent.map { |event| event["runs"] }.uniq)
          assert_operator events(report, "rush").sum { |event| event["none"] }, :>, 0
          assert_match(/get an empty answer at once in place of the value: memcached-lock/, out.gsub(/\s+/, " "))
        end

        slow_test "a value that no block made voids its row and fails the run" do
          outcome = lab("stampede", "--quick", "--threads", "2", "--require", fixture("liar"), "--only", "liar")
          assert_equal 1, outcome.status
          assert_match(/liar: invalid, a wrong value: "Hello Mars!", which no block made/, outcome.out.gsub(/\s+/, " "))
        end

        test "what makes no sense is refused, help is not" do
          { %w[--block-ms 1001] => /--block-ms must be 1000 or less/,
            %w[--processes 0] => /--processes must be 1 or more/,
            %w[--threads 0] => /--threads must be 1 or more/,
            %w[--only x] => /unknown contender x; known: larder-single-flight, / }.each do |arguments, message|
            assert_match(message, assert_raises(UsageError) { options_for(*arguments) }.message)
          end
          help = options_for("--help").help
          assert_includes help, "Usage: larder-lab stampede"
          assert_empty(help.lines.map(&:chomp).select { |line| line.size > 80 })
          assert_includes options_for("--list").list, "memcached-lock"
        end

        test "its contenders are those of no other command" do
          all = options_for("--only", "all").contenders
          assert_equal %w[larder-single-flight memcached-lock], all - Contenders.names
          assert_empty Contenders.names - all
          assert_equal "larder-single-flight", Contenders.fetch("larder-single-flight").key
        end

        private

        # On a busy machine all of them may fall before or into the refresh.
        def reads_in(event)
          %w[plain during].sum { |part| event[part]["count"] }
        end

        def options_for(*arguments)
          options_of(Stampede, *arguments)
        end

        def run_of(contender, *arguments)
          run_reported("stampede", "--quick", "--only", contender, *arguments, "--seed", "1")
        end
      end
    end
  end
end
