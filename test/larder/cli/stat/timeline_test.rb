# frozen_string_literal: true

require "test_helper"
require "support/usages"
require "larder/cli"

module Larder
  module CLI
    class Stat
      # The rows of `larder stat --by`, of given figures.
      class TimelineTest < ActiveSupport::TestCase
        ROW = "views/products/_row"
        ALL = { ROW => { hits: 1 }, "users" => { hits: 1 } }.freeze
        BAD = [{ hits: 6000, misses: 6000, stores: 6000, evictions: 31 },
               { "users" => { hits: 400, misses: 30 },
                 ROW => { hits: 20, misses: 5000, stores: 5000, computes: 4800, compute_us: 4800 * 41_000,
                          read_variance: 10_000 } }].freeze
        GOOD = [{ hits: 96, misses: 4, stores: 4 }, { "users" => { hits: 40, misses: 3 } }].freeze

        setup do
          @zone = ENV.fetch("TZ", nil)
          ENV["TZ"] = "UTC"
        end

        teardown { ENV["TZ"] = @zone }

        def minute(ago)
          Usages::NOW - 7 - (ago * 60)
        end

        def hour(ago)
          Usages::NOW - 2467 - (ago * 3600)
        end

        def timeline(by: "minute", keyspace: nil, minutes: { minute(3) => GOOD, minute(1) => BAD }, **more)
          usage = Usages.usage(keyspaces: ALL, minutes: minutes, **more)
          Timeline.new(usage, by: by, keyspace: keyspace, now: Usages::NOW)
        end

        test "each minute names the keyspace that missed most" do
          assert_equal <<~TEXT, "#{timeline.lines(80).join("\n")}\n"
            All keyspaces by minute

              time   reads              hits  stored  evicted  most misses
              10:38    100   96 % ##########       4        0   75 % users
              10:39      0                         0        0
              10:40  12.0k   50 % #####-----   6,000       31   83 % views/products/_row
              10:41      0                         0        0

              The last row is not complete.
          TEXT
        end

        test "a keyspace over time has its errors and the time to compute" do
          assert_equal <<~TEXT, "#{timeline(keyspace: ROW).lines(80).join("\n")}\n"
            Keyspace views/products/_row by minute

              time   reads                   hits  stored  evicted  computing
              10:38      0                              0        0
              10:39      0                              0        0
              10:40  5,020 ±4 %   <1 % #---------   5,000        0       41ms
              10:41      0                              0        0

              The last row is not complete.
          TEXT
        end

        test "hours have their day, and reach back for two" do
          shown = timeline(by: "hour", hours: { hour(0) => BAD, hour(47) => GOOD, hour(48) => BAD }).lines(80)
          assert_equal 2 + 1 + 48 + 2, shown.size
          assert_match(/^  27 Nov 11:00    100   96 % /, shown[3])
          assert_match(/^  29 Nov 10:00  12.0k   50 % /, shown[-3])
        end

        test "hours that begin at half past have their minutes" do
          ENV["TZ"] = "Asia/Kolkata"
          assert_match(/^  29 Nov 15:30  12.0k   50 % /, timeline(by: "hour", hours: { hour(0) => BAD }).lines(80)[3])
        end

        test "a keyspace that was not among the largest is not known, and not zero" do
          others = (1..16).to_h { |number| ["k#{number}", { hits: 9 }] }
          usage = Usages.usage(keyspaces: { **ALL, **others }, minutes: { minute(2) => [{ hits: 200 }, others],
                                                                         minute(1) => BAD })
          timeline = Timeline.new(usage, by: "minute", keyspace: ROW, now: Usages::NOW)
          assert_match(/^  10:39 +-$/, timeline.lines(80)[3])
          assert_equal "  -: not among the 16 keyspaces with most traffic at that time", timeline.lines(80).last
          assert_nil timeline.to_h[:rows].first[:counts]
        end

        test "without counts it says so" do
          assert_equal ["All keyspaces by minute", "", "  Nothing was counted in that time."],
                       timeline(minutes: {}).lines(80)
        end

        test "a keyspace that there is not is refused with those that there are" do
          { "prices" => "the largest are #{ROW}, users", "users/17" => "keys users/17 are in the keyspace users" }
            .each do |name, hint|
              error = assert_raises(Failure) { timeline(keyspace: name) }
              assert_equal "there are no counts of a keyspace #{name}: #{hint}", error.message
            end
          error = assert_raises(Failure) { Timeline.new(Usages.usage, by: "hour", keyspace: "x") }
          assert_match(/none is counted yet/, error.message)
        end

        test "a keyspace is also found by its name as it is shown" do
          usage = Usages.usage(keyspaces: { "a\e" => { hits: 1 } })
          assert_equal 'a\x1B', Timeline.new(usage, by: "hour", keyspace: 'a\x1B').to_h[:keyspace]
        end

        test "machines get each row" do
          rows = timeline.to_h[:rows]
          assert_equal({ name: ROW, misses: 5000 }, rows[2][:most_misses])
          assert_equal ["2026-11-29T10:40:00Z", 0.5, nil],
                       [rows[2][:began], rows[2][:counts][:hit_ratio], rows[3][:most_misses]]
          assert_not timeline(keyspace: ROW).to_h[:rows].first.key?(:most_misses)
        end
      end
    end
  end
end
