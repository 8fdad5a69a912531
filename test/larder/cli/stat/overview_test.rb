# frozen_string_literal: true

require "test_helper"
require "support/usages"
require "larder/cli"

module Larder
  module CLI
    class Stat
      # The page of `larder stat`, of given figures.
      class OverviewTest < ActiveSupport::TestCase
        STATS = { hits: 1_815_144, misses: 115_860, sets: 118_220, evictions: 1204, expirations: 65_812,
                  items: 52_408, size_bytes: 256 << 20, fullness: 0.61, hit_ratio: 0.94, oldest_age: 11_520.0,
                  counts_age: 0.0, stale_hits: 0, leases: 0, waits: 0, refreshes: 0, lone_computes: 0, lost_leases: 0,
                  tag_deletes: 0, forgotten_misses: 0, refused: 0, damaged: 0, resets: 0 }.freeze
        HOUR = [{ hits: 36_000, misses: 4000, stores: 5000, evictions: 12 },
                { "views/products/_row" => { hits: 26_000, misses: 400, stores: 400, stored_bytes: 5 << 20,
                                             computes: 400, compute_us: 16_000_000 },
                  "users" => { hits: 9000, misses: 3000, stores: 4000, stored_bytes: 700_000, evictions: 12,
                               evicted_age_ms: 12_000 * 1000, computes: 100, compute_us: 400_000,
                               read_variance: 40_000 } }].freeze

        def usage(**more)
          before, now = Usages::NOW - 7200, Usages::NOW - 67
          Usages.usage(keyspaces: HOUR.last, minutes: { now => HOUR }, hours: { before => HOUR, now => HOUR }, **more)
        end

        def lines(usage = self.usage, problem = nil, width: 80, **more)
          Overview.new({ **STATS, **more }, [812, 813], Statistics.new(usage, problem), now: Usages::NOW).lines(width)
        end

        test "hits come first, then fullness and keyspaces" do
          assert_equal <<~TEXT, "#{lines.join("\n")}\n"
              hits           90 %   of    40,000 reads in the last hour
                             90 %   of    80,000 reads in the last day
                             94 %   of 1,931,004 reads since the file was made
              saved       about 35 minutes 52 seconds of computing in the last day

              full           61 %   [##################------------] of 256.0 MiB
              items        52,408   the oldest: 3 hours 12 minutes
              stored      118,220
              evicted       1,204
              expired      65,812
              processes         2   812, 813

            Keyspaces in the last hour
              keyspace          share of reads       hits  stored  evicted  after  computing
              views/pr…ts/_row  #####---  66 %       98 %    5.0M        0              40ms
              users             ##------  30 % ±4 %  75 %    684K       12    17m        4ms
              (others)          #-------   4 %       63 %      0B        0

              ±: error of the share in 19 of 20 cases
          TEXT
        end

        test "failures of the last day have a line, if there are any" do
          refute_match(/failed/, lines.join("\n"))
          failing = Usages.usage(keyspaces: {}, hours: { Usages::NOW - 67 => [{ failures: 1204 }, {}] })
          assert_includes lines(failing), "  failed        1,204   calls in the last day: the log says why"
        end

        test "a wide terminal has room for whole names" do
          assert_includes lines(width: 100).join("\n"), "  views/products/_row  #####---  66 %"
        end

        test "all lines have 80 columns at most, whatever the names and figures are" do
          counts = { hits: 10**12, misses: 1, stores: 10**11, evictions: 10**9, stored_bytes: 10**15,
                     evicted_age_ms: 10**17, computes: 1, compute_us: 10**11, read_variance: 10**22,
                     store_variance: 10**21, eviction_variance: 10**16 }
          names = (1..12).to_h { |number| ["\e#{number}日本" * 12, counts] }
          usage = Usages.usage(keyspaces: names, minutes: { Usages::NOW - 67 => [{ hits: 10**11 }, names] })
          lines(usage, items: 10**9, sets: 10**11).each { |line| assert_operator Brief.columns(line), :<=, 80, line }
          assert_match(/in \d+ columns/, lines(usage).last)
        end

        test "keyspaces of all time are shown if none was used in the last hour" do
          usage = Usages.usage(keyspaces: { "users" => { hits: 3, misses: 1, stores: 1 } })
          since = usage.since.strftime("%-d %b %H:%M")
          assert_equal ["Keyspaces since #{since}; none was used in the last hour",
                        "  keyspace  share of reads  hits  stored  evicted",
                        "  users     ######## 100 %  75 %      0B        0"], lines(usage).last(3)
          assert_equal ["No keyspace was used yet."], lines(Usages.usage).last(1)
        end

        test "ten keyspaces have a row, and all others one" do
          names = (1..16).to_h { |number| ["k#{number}", { hits: 100 - number, stores: 1 }] }
          usage = Usages.usage(keyspaces: names, minutes: { Usages::NOW - 67 => [{ hits: 2000, stores: 16 }, names] })
          rows = lines(usage).last(11).map { |line| line.split.values_at(0, 2) }
          assert_equal [*(1..10).map { |number| "k#{number}" }, "(others)"], rows.map(&:first)
          assert_equal ["5", "53"], [rows.first, rows.last].map(&:last)
        end

        test "without statistics it says why, and shows the rest" do
          shown = lines(nil, "of another user")
          assert_equal "  hits           94 %   of 1,931,004 reads since the file was made", shown.first
          assert_equal ["", "No statistics by keyspace and time:", "  of another user"], shown.last(3)
          assert_equal({ statistics: nil, statistics_problem: "of another user" },
                       Overview.new(STATS, [], Statistics.new(nil, "of another user")).to_h)
        end

        test "damage and rare counts are shown where there are some" do
          assert_equal ["  stale             3   reads that an expired value answered", "  damaged           1"],
                       lines(stale_hits: 3, damaged: 1).grep(/stale|damaged/)
          assert_match(/up to 2 seconds old/, lines(counts_age: 2.0).join)
        end

        test "machines get the hour, the day and each keyspace" do
          figures = Overview.new(STATS, [], Statistics.new(usage, nil), now: Usages::NOW).to_h.fetch(:statistics)
          assert_equal ["2026-11-28T09:41:07Z", "2026-11-29T10:41:07Z", 0.9, 40_000, 80_000],
                       [*figures.values_at(:since, :changed), figures[:last_hour][:hit_ratio],
                        *figures.values_at(:last_hour, :last_day).map { |counts| counts[:reads] }]
          assert_in_delta 2152.0, figures[:saved_last_day]
          users = figures[:keyspaces].find { |keyspace| keyspace[:name] == "users" }
          assert_equal [400, 0.75, 0.004, 1000.0],
                       users[:last_hour].values_at(:reads_error, :hit_ratio, :mean_compute, :mean_evicted_age)
        end
      end
    end
  end
end
