# frozen_string_literal: true

require "test_helper"
require "json"
require "larder/cli"

module Larder
  module CLI
    class Stat
      # The lines of `larder stat --interval`, of given figures.
      class LiveTest < ActiveSupport::TestCase
        RATES = Rates.new(12_408.0, 103.0, 103.4, 0.02)
        STATS = { items: 52_408, fullness: 0.61 }.freeze

        test "a line has the rates, and every 20 lines have a head" do
          live = Live.new(nil)
          lines = Array.new(21) { live.lines(RATES, STATS, 1.0) }
          assert_equal ["     12.4k       103   >99 %        103         <0.1       52,408    61 %"], lines.first
          assert_equal [1, 2], [lines[19], lines[20]].map(&:size)
          assert_equal "    hits/s  misses/s    hits   stores/s  evictions/s        items    full", lines.last.first
          assert_equal lines.last.map(&:size).uniq, [lines.first.first.size]
        end

        test "without reads there is no hit ratio" do
          assert_match(/^ +0 +0 +- +0 /, Live.new(nil).lines(Rates.new(0.0, 0.0, 0.0, 0.0), STATS, 1.0).first)
        end

        test "machines get an object a line, without heads" do
          live = Live.new(nil, json: true)
          lines = Array.new(21) { live.lines(RATES, STATS, 1.0004) }
          assert_equal 21, lines.flatten.size
          figures = JSON.parse(lines.first.first)
          assert_equal [1.0, 12_408.0, 103.4, 52_408, 0.61],
                       figures.values_at("seconds", "hits_per_second", "stores_per_second", "items", "fullness")
          assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/, figures["time"])
        end
      end
    end
  end
end
