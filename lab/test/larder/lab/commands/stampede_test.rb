# frozen_string_literal: true

require "test_helper"
require "support/reported_runs"

module Larder
  module Lab
    module Commands
      # Stampedes for real, from the command line to the report.
      class StampedeTest < ActiveSupport::TestCase
        include ReportedRuns

        SMALL = %w[stampede --quick --seed 1 --processes 2 --threads 3 --block-ms 100].freeze

        test "one caller computes for all, also after the first was killed" do
          report, out = run_reported(*SMALL, "--only", "larder-single-flight,memory")
          single, memory = figures(report).values_at("larder-single-flight", "memory")
          single.values_at("absent", "killed").each do |found|
            assert_equal [[1], [1], [0]], found.values_at("runs", "answers", "none").map { |all| all.flatten.uniq }
            assert_equal 6 * found["runs"].flatten.size, found["waits"].sum { |waits| waits["count"] }
          end
          assert_operator memory["absent"]["runs"].flatten.min, :>, 1
          assert_nil memory["killed"]
          assert_match(/^  memory +not measured: each caller computes by itself/, out)
          assert_match(/Computations of an absent key that all callers want: larder-single-flight 1, memory \d/,
                       out.gsub(/\s+/, " "))
          assert_includes measures(report), "stampede/killed/median-runs/larder-single-flight"
        end

        test "dalli's lock answers without a value while another computes" do
          skip "memcached is not installed" unless Servers.fetch("memcached").path
          report, = run_reported(*SMALL, "--only", "memcached-lock")
          found = figures(report).dig("memcached-lock", "absent")
          assert_equal [1], found["runs"].flatten.uniq
          assert_operator found["none"].flatten.max, :>, 0
        end

        test "a value that no block made voids its row and fails the run" do
          outcome = lab(*SMALL, "--blocks", "absent", "--require", fixture("liar"), "--only", "memory,inventor")
          assert_equal 1, outcome.status
          assert_match(/inventor: invalid, a wrong value: "Hello Mars!", which no block made/,
                       outcome.out.gsub(/\s+/, " "))
        end

        test "what makes no sense is refused, help is not" do
          { %w[--block-ms 1001] => /--block-ms must be 1000 or less, not 1001/,
            %w[--processes 0] => /--processes must be more than 0/,
            %w[--only x] => /unknown contender x; known: larder-single-flight, / }.each do |arguments, message|
            assert_match(message, assert_raises(UsageError) { options_of("stampede", *arguments) }.message)
          end
          help = options_of("stampede", "--help").help
          assert_empty(help.lines.map(&:chomp).select { |line| line.size > 80 })
          assert_includes options_of("stampede", "--list").list, "memcached-lock"
          assert_equal %w[larder-single-flight memcached-lock],
                       options_of("stampede", "--only", "all").contenders - Contenders.names
        end
      end
    end
  end
end
