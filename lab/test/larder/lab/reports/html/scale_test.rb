# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Reports
      class Html
        class ScaleTest < ActiveSupport::TestCase
          test "a linear scale is divided by 1, 2 and 5, and begins at 0 if that is not far" do
            assert_equal %w[0 20 40 60 80 100 120], labels([37, 111])
            assert_equal %w[1 1.05 1.1 1.15 1.2], labels([1.02, 1.17])
            assert_equal %w[-4 -2 0 2 4 6], labels([-3.1, 5])
          end

          test "a logarithmic scale has decades, 1, 2 and 5 where there is room, and even steps where it is short" do
            assert_equal ["1 µs", "10 µs", "100 µs", "1 ms"], labels([0.8e-6, 1.5e-3], scale: "log", format: "seconds")
            assert_equal %w[10 20 50 100], labels([12, 90], scale: "log")
            assert_equal %w[0.9 0.95 1 1.05 1.1 1.15], labels([0.93, 1.14], scale: "log")
          end

          test "percentiles lie as far apart as their nines" do
            scale = build([0.0, 0.9999], scale: "percentile", format: "percentile")
            assert_equal %w[p50 p90 p99 p99.9 p99.99], scale.ticks.map(&:label)
            assert_in_delta scale.at(0.99) - scale.at(0.9), scale.at(0.999) - scale.at(0.99), 0.01
            assert_operator scale.at(1.0), :<=, 400
          end

          test "places follow values, and never leave the axis" do
            scale = build([0, 100])
            assert_equal [0, 200, 400, 400, 0], [0, 50, 100, 900, -5].map { |value| scale.at(value) }
            assert_equal 0, build([0, 1, 1000], scale: "log").at(0)
          end

          test "names stand apart and differ, whatever the values, the format and the room" do
            values = [[0, 0], [5, 5], [-2, -2], [1e-9, 1e-9], [0.101, 0.104], [3, 1e12], [0.5, 1e-7, 40], [], [nil, 2]]
            kinds = ["linear", "log", "percentile"]
            kinds.product(values, Cells::FORMATS.keys, [60, 300]).each do |kind, given, format, to|
              ticks = build(given, scale: kind, format: format, to: to).ticks
              assert_equal ticks.map(&:label).uniq, ticks.map(&:label)
              assert(ticks.all? { |tick| tick.at.between?(-0.01, to + 0.01) }, [kind, given, format, ticks].inspect)
            end
          end

          test "an axis of counts has no fractions" do
            assert_equal %w[0 1 2], labels([1, 2], format: "integer")
          end

          test "the values themselves are named where that is asked for and there is room" do
            marks = { start: :values, marks: [1, 2, 4, 8, 16] }
            assert_equal %w[1 2 4 8 16], build([1, 16], scale: "log", format: "integer", **marks).ticks.map(&:label)
            assert_equal %w[5 10 15], build([1, 16], format: "integer", to: 120, **marks).ticks.map(&:label)
          end

          private

          def labels(values, **options)
            build(values, **options).ticks.map(&:label)
          end

          def build(values, scale: "linear", format: nil, to: 400, **options)
            Scale.build(Document::Axis.new(title: "", scale: scale, format: format), values, from: 0, to: to, **options)
          end
        end
      end
    end
  end
end
