# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Reports
      class Html
        class ScaleTest < ActiveSupport::TestCase
          test "a linear scale is divided by 1, 2 and 5, and begins at 0 if that is not far" do
            assert_equal %w[0 50 100 150], labels([37, 111])
            assert_equal %w[1 1.05 1.1 1.15 1.2], labels([1.02, 1.17])
            assert_equal %w[-4 -2 0 2 4 6], labels([-3.1, 5])
            assert_equal %w[0 1 2], labels([1, 2], format: "integer")
          end

          test "a logarithmic scale has decades, 1, 2 and 5 where there is room, and even steps where it is short" do
            assert_equal ["1 µs", "10 µs", "100 µs", "1 ms"], labels([1e-6, 0.9e-3], scale: "log", format: "seconds")
            assert_equal %w[10 20 50 100], labels([12, 90], scale: "log")
            short = scale([0.93, 1.14], scale: "log")
            assert_equal ["time", %w[0.9 0.95 1 1.05 1.1 1.15]], [short.title, short.ticks.map(&:label)]
          end

          test "percentiles lie as far apart as their nines" do
            scale = scale([0.0, 0.9999], scale: "percentile")
            assert_equal %w[p0 p50 p90 p99 p99.9 p99.99], scale.ticks.map(&:label)
            assert_in_delta scale.place(0.99) - scale.place(0.9), scale.place(0.999) - scale.place(0.99), 0.11
            assert_in_delta 100, scale.place(1.0)
          end

          test "places follow values, and never leave the axis" do
            scale = scale([0, 100])
            assert_equal [0, 50, 100, 100, 0], [0, 50, 100, 900, -5].map { |value| scale.place(value) }
            assert_equal 0, scale([0, 1, 1000], scale: "log").place(0)
          end

          test "names differ and have room, whatever the values, the format and the direction" do
            values = [[0, 0], [5, 5], [-2, -2], [1e-9, 1e-9], [0.101, 0.104], [3, 1e12], [0.5, 1e-7, 40], [], [nil, 2]]
            scales = ["linear", "log", "percentile"]
            scales.product(values, Figures::FORMATS.keys, [true, false]) do |kind, given, format, vertical|
              ticks = scale(given, scale: kind, format: format, vertical: vertical).ticks
              assert_equal ticks.map(&:label).uniq, ticks.map(&:label)
              assert_operator ticks.size, :<=, 8
              assert(ticks.all? { |tick| tick.place.between?(0, 100) }, [kind, given, format, ticks].inspect)
            end
          end

          private

          def labels(...) = scale(...).ticks.map(&:label)

          def scale(values, scale: "linear", format: nil, **options)
            Scale.new(Document::Axis.new(title: "time", scale: scale, format: format), values, **options)
          end
        end
      end
    end
  end
end
