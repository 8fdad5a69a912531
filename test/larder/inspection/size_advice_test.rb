# frozen_string_literal: true

require "test_helper"
require "larder/inspection"

module Larder
  module Inspection
    # Sentences about other sizes of a file, of figures that a cache would return.
    class SizeAdviceTest < ActiveSupport::TestCase
      MIB = 1 << 20
      STATS = { fullness: 1.0, evictions: 10, sets: 100 }.freeze

      # @param ratios [Hash{Numeric => Float, nil}] by how many times the size
      def advice(ratios, now: 0.5, evicts: true, size: 64 * MIB, needed: nil, stats: STATS)
        sizes = ratios.map do |times, ratio|
          { size_bytes: (size * times).to_i, hit_ratio: ratio, error: (0.02 if ratio), reads: 300 }
        end
        SizeAdvice.new({ size_bytes: size, hit_ratio: now, evicts: evicts, needed_bytes: needed, sizes: sizes }, stats)
      end

      test "the smallest size with clearly more hits is proposed" do
        found = advice({ 0.5 => 0.4, 2 => 0.51, 4 => 0.7 })
        assert_equal "A larger file would help: four times the size would answer about 70 % of reads instead of 50 %.",
                     found.sentences.first
        assert_equal [256, true, true], [found.megabytes, found.larger?, found.known?]
        assert_equal "To evict nothing, the file would need more than 256.0 MiB.", found.needed
        assert_equal [32, 64, 128, 256], found.sizes.map { |one| one[:size_bytes] / MIB }
      end

      test "a smaller size is proposed where it has as many hits" do
        found = advice({ 0.5 => 0.515, 2 => 0.5, 4 => 0.5 }, needed: 100 * MIB)
        assert_match(/\AA smaller file would do: half the size/, found.sentences.first)
        assert_equal [32, false], [found.megabytes, found.larger?]
        assert_equal "With about 100.0 MiB nothing would have been evicted.", found.needed
      end

      test "the present size is kept where no other is better, or known to be" do
        same = advice({ 0.5 => 0.4, 2 => 0.5, 4 => 0.51 })
        assert_match(/\AA larger file would hardly help: four times/, same.sentences.first)
        assert_equal "Too few reads yet to tell: 300 reads of the sample so far.",
                     advice({ 0.5 => nil, 2 => nil, 4 => nil }).sentences.first
        assert_equal ["Too few reads yet to tell whether a larger file would help."],
                     advice({ 0.5 => 0.1, 2 => nil, 4 => nil }).sentences
        assert_nil advice({ 0.5 => 0.1, 2 => nil, 4 => nil }).megabytes
      end

      test "where everything fits no size is proposed" do
        found = advice({ 0.5 => nil }, evicts: false, stats: { fullness: 0.25, evictions: 0, sets: 9 })
        first, second = found.sentences
        assert_equal "Everything fits, and a larger file would not help: nothing was evicted.", first
        assert_equal "The file is 25 % full.", second
        assert_equal [nil, false], [found.megabytes, found.larger?]
      end

      test "sizes that a cache cannot have are left out" do
        assert_equal [MIB, 2 * MIB], advice({ 0.5 => 0.1, 2 => 0.5 }, size: MIB).sizes.map { |one| one[:size_bytes] }
      end
    end
  end
end
