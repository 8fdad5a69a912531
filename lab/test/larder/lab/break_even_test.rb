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

      test "the published figures: LZ4 never, in either form" do
        assert published.never?("LZ4Flex")
        assert published.never?("LZ4")
        refute published.never?("Snappy")
      end

      test "the lowest line at zero comes first, a flatter one takes over where they meet" do
        found = lines(a: [1, 3], b: [2, 1]).pieces
        assert_equal [[:a, 0.0, 0.5], [:b, 0.5, Float::INFINITY]], found.map(&:to_a)
      end

      test "a line that is never the lowest has no piece" do
        found = lines(a: [0, 3], hidden: [2, 2], b: [2, 1])
        assert_equal %i[a b], found.pieces.map(&:name)
        assert found.never?(:hidden)
        assert_equal 1.0, found.crossing(:a, :b)
      end

      test "three lines through one point: the flattest goes on" do
        assert_equal %i[a c], lines(a: [0, 2], b: [1, 1], c: [2, 0]).pieces.map(&:name)
      end

      test "parallel lines never meet, and of equal ones the first stands" do
        both = lines(a: [1, 2], b: [1, 2])
        assert_nil both.crossing(:a, :b)
        assert_equal [:a], both.pieces.map(&:name)
      end

      test "what is best at a point, also beyond the last crossing" do
        found = lines(a: [1, 3], b: [2, 1])
        assert_equal :a, found.at(0.0).name
        assert_equal :b, found.at(0.5).name
        assert_equal :b, found.at(1e9).name
      end

      test "no lines have no pieces" do
        assert_empty BreakEven.new([]).pieces
      end

      test "it agrees with looking at every point" do
        random = Random.new(3)
        200.times do
          some = BreakEven.new(Array.new(6) { |i| line(i, random.rand, random.rand) })
          [0.0, 0.1, 1.0, 10.0, random.rand].each do |at|
            best = some.lines.min_by { |each| each.cost(at) }
            assert_in_delta best.cost(at), some.lines[some.at(at).name].cost(at), 1e-12
          end
        end
      end
    end
  end
end
