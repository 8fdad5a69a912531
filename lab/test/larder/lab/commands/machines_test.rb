# frozen_string_literal: true

require "test_helper"
require "redis"
require "support/reported_runs"

module Larder
  module Lab
    module Commands
      # The command with a real server, a real proxy and real machines.
      class MachinesTest < ActiveSupport::TestCase
        include ReportedRuns

        SMALL = %w[machines --sessions 1 --passes 1 --turn-ms 0.5 --seed 1 --rtt 5ms,200ms].freeze

        setup { skip "redis-server is not installed" unless Servers.fetch("redis").path }

        test "times, the share of the file, and ages within their bounds" do
          report, out = run_reported(*SMALL)
          chapter = report["chapters"].first
          seconds = seconds_of(report)
          assert_trips(seconds, [%w[hit redis], %w[miss redis], %w[miss larder-redis], %w[read_multi larder-redis],
                                 %w[write larder-redis]], 0.005)
          assert_trips(seconds, [%w[ten_hits redis]], 0.05)
          assert_trips(seconds, [%w[write larder-redis-backplane]], 0.01)
          %w[larder-redis larder-redis-backplane].each do |row|
            assert_operator seconds.fetch("machines/ten_hits_yours/#{row}"), :<, 0.005
            shares = figures(chapter, row, "reading")["by_file"]
            assert_equal [], shares.reject { |share| share.between?(0.05, 1.0) }
          end
          assert_equal [0.2, 0.2], figures(chapter, "larder-redis", "seen")["bound"]
          assert_match(/^  larder-redis +[\d.]+ ms +[\d.]+ ms +[\d.]+ ms +200 ms +\d+$/, out)
          assert_match(/^  - Oldest answer after changes, yours: redis 0 s, /, out)
        end

        test "an answer that is older than it may be makes the row invalid and the run fail" do
          run = lab(*SMALL, "--require", fixture("overdue"), "--only", "larder-redis,overdue", "--blocks", "seen_yours")
          assert_equal 1, run.status
          said = run.out.gsub(/\s+/, " ")
          assert_match(/overdue: invalid, an answer was \d+ ms older than a change on another machine, at most/, said)
          refute_match(/larder-redis: invalid/, said)
        end

        test "a store that machines cannot share is not measured" do
          run = lab(*SMALL, "--only", "memory", "--blocks", "hit_yours,seen_yours")
          assert_equal 1, run.status
          assert_match(/machines cannot share\s+it/, run.out)
        end

        slow_test "in a running server of the user's misses take a round trip, and what is stored expires" do
          with_directory do |dir|
            server = Servers.fetch("redis-loopback").new(dir).start
            report, = run_reported(*SMALL, "--redis-url", server.endpoint["url"])
            rows = %w[larder-redis larder-redis-backplane]
            assert_trips(seconds_of(report), %w[miss read_multi].product(rows), 0.005)
            redis = ::Redis.new(url: server.endpoint["url"])
            assert_operator redis.dbsize, :>, 1000
            assert_equal redis.dbsize, redis.info("keyspace")["db0"][/expires=(\d+)/, 1].to_i
          ensure
            server&.stop
          end
        end

        test "a round trip and a time that make no sense are refused, and help fits a terminal" do
          assert_equal "0.012,5.0", options_of("machines", "--rtt", "12ms,5s").plans.first.given
          assert_equal "0.0,0.5", options_of("machines", "--rtt", "0").plans.first.given
          { "5" => /--rtt 5: a duration is written/, "500ms" => /--rtt 500ms: a round trip of 450ms at most/,
            "1ms,11s" => /--rtt 1ms,11s: .* a local_expires_in of 100ms to 10s/ }.each do |text, message|
            assert_match(message, assert_raises(UsageError) { options_of("machines", "--rtt", text) }.message)
          end
          assert_empty(options_of("machines", "--help").help.lines.map(&:chomp).select { |line| line.size > 80 })
        end

        private

        def seconds_of(report)
          report["chapters"].first["measures"].to_h { |measure| [measure["key"], measure["samples"].min] }
        end

        def assert_trips(seconds, blocks, least)
          blocks.each { |call, row| assert_operator seconds.fetch("machines/#{call}_yours/#{row}"), :>=, least }
        end

        def figures(chapter, row, block)
          chapter.dig("details", "recorded", row, "figures", "#{block}_yours")
        end
      end
    end
  end
end
