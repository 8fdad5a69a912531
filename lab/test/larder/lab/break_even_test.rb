# frozen_string_literal: true

require "test_helper"
require "larder/lab/break_even"
require "larder/lab/published"

module Larder
  module Lab
    class BreakEvenTest < ActiveSupport::TestCase
      def lines(**figures)
        BreakEven.new(figures.map { |name, (fixed, slope)| line(name, fixed, slope) })
      end

      def line(name, fixed, slope)
        BreakEven::Line.new(name: name, fixed: fixed.to_f, slope: slope.to_f)
      end

      def published
        figures = Published.of("published-b").tables.first.rows.values.filter_map do |name, bytes, rate|
          [name, [bytes, rate ? 1 / rate : 0.0]] if bytes
        end
        BreakEven.of_bandwidth(figures.to_h)
      end

      test "the published figures: brotli to 3.1 Mbit/s, zstd to 0.755 Gbit/s, snappy to 3.17, none above" do
        found = published.by_bandwidth
        assert_equal %w[Brotli Zstd Snappy none], found.map(&:name)
        assert_equal [0.0, 3.1, 755, 3170], (found.map { |piece| rounded(piece.from / 1e6) })
        assert_equal [3.1, 755, 3170, Float::INFINITY], (found.map { |piece| rounded(piece.to / 1e6) })
      end

      # To the digits that are stated.
      def rounded(mbit)
        return mbit if mbit.infinite? || mbit.zero?
        return mbit.round(1) if mbit < 10

        mbit.round(mbit < 1000 ? 0 : -1)
      end

      test "the lowest line at zero comes first, a flatter one takes over where they meet" do
        found = lines(a: [1, 3], b: [2, 1]).pieces
        assert_equal [[:a, 0.0, 0.5], [:b, 0.5, Float::INFINITY]], found.map(&:to_a)
      end

      test "a line that is never the lowest has no piece" do
        found = lines(a: [0, 3], hidden: [2, 2], b: [2, 1])
        assert_equal %i[a b], found.pieces.map(&:name)
      end

      test "three lines through one point: the flattest goes on" do
        assert_equal %i[a c], lines(a: [0, 2], b: [1, 1], c: [2, 0]).pieces.map(&:name)
      end

      test "parallel lines never meet, and of equal ones the first stands" do
        assert_equal [:a], lines(a: [1, 2], b: [1, 2]).pieces.map(&:name)
      end

      test "no lines have no pieces" do
        assert_empty BreakEven.new([]).pieces
      end

      test "it agrees with looking at every point" do
        random = Random.new(3)
        200.times do
          some = Array.new(6) { |i| line(i, random.rand, random.rand) }
          pieces = BreakEven.new(some).pieces
          [0.0, 0.1, 1.0, 10.0, random.rand].each do |at|
            costs = some.map { |each| each.fixed + (each.slope * at) }
            assert_in_delta costs.min, costs[pieces.find { |piece| at >= piece.from && at < piece.to }.name], 1e-12
          end
        end
      end
    end
  end
end
