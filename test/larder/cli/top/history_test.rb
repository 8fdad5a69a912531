# frozen_string_literal: true

require "test_helper"
require "support/usages"
require "larder/cli"

module Larder
  module CLI
    class Top
      # Changes between readings.
      class HistoryTest < ActiveSupport::TestCase
        def reading(clock, hits, usage = nil)
          Reading.new(clock, Usages::NOW, { hits: hits, misses: 0, sets: 0, evictions: 0 }, [],
                      Statistics.new(usage, nil))
        end

        def history(*readings)
          History.new.tap { |history| readings.each { |each| history.add(each) } }
        end

        def usage(keyspaces, **more)
          Usages.usage(keyspaces: keyspaces, **more)
        end

        test "rates are those between the last two readings" do
          assert_nil history(reading(0.0, 5)).rates
          assert_in_delta 20.0, history(reading(0.0, 5), reading(1.0, 6), reading(1.5, 16)).rates.hits
        end

        test "keyspaces are the changes of up to a minute" do
          readings = (0..90).map { |second| reading(second.to_f, 0, usage({ "a" => { hits: 10 * second } })) }
          time, rows = history(*readings).keyspaces
          assert_equal ["in the last 60 seconds", [["a", 10.0]]],
                       [time, rows.map { |row| [row.name, row.rates[:reads]] }]
        end

        test "a keyspace that is new, or has another row, counts from zero, and unused ones are left out" do
          before = usage({ "a" => { hits: 100 }, "still" => { hits: 9 } }, rest: { hits: 5 })
          after = usage({ "a" => { hits: 7 }, "b" => { misses: 3 }, "still" => { hits: 9 } }, rest: { hits: 6 },
                                                                                            since: Usages::NOW - 5)
          same = usage({ "a" => { hits: 101 }, "still" => { hits: 9 } }, rest: { hits: 6 })
          reads = lambda do |now|
            rows = history(reading(0.0, 0, before), reading(8.0, 0, now)).keyspaces.last
            rows.to_h { |row| [row.name, row.counts.reads] }
          end
          assert_equal({ "a" => 7, "b" => 3, "still" => 9, nil => 1 }, reads[after])
          assert_equal({ "a" => 1, nil => 1 }, reads[same])
        end

        test "before that they are those of the last full minute" do
          minutes = { Usages::NOW - 67 => [{ hits: 90 }, { "a" => { hits: 60 } }] }
          time, rows = history(reading(0.0, 0, usage({ "a" => { hits: 600 } }, minutes: minutes))).keyspaces
          assert_equal [["a", 1.0], [nil, 0.5]], rows.map { |row| [row.name, row.rates[:reads]] }
          assert_match(/\Ain the minute \d\d:40\z/, time)
        end

        test "without a minute, or without statistics, there are none" do
          assert_equal [nil, []], history(reading(0.0, 0, usage({ "a" => { hits: 600 } }))).keyspaces
          assert_equal [nil, []], history(reading(0.0, 0), reading(20.0, 0)).keyspaces
        end
      end
    end
  end
end
