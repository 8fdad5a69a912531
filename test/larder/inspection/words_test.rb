# frozen_string_literal: true

require "test_helper"
require "larder/inspection/words"

module Larder
  module Inspection
    class WordsTest < ActiveSupport::TestCase
      test "numbers are written in groups, with their noun" do
        assert_equal %w[0 999 1,000 12,408 1,234,567,890], [0, 999, 1000, 12_408, 1_234_567_890].map { Words.count(_1) }
        assert_equal ["0 sessions", "1 session", "2,000 sessions"],
                     [0, 1, 2000].map { |n| Words.counted(n, "session") }
      end

      test "what is neither nothing nor all is not called so" do
        assert_equal ["0 %", "<1 %", "1 %", "50 %", "99 %", ">99 %", "100 %", "104 %"],
                     [0, 0.001, 0.01, 0.5, 0.99, 0.999, 1, 1.04].map { |share| Words.percent(share) }
      end

      test "bytes are written in the largest unit, once where it is the same" do
        assert_equal ["0 of 1,023 bytes", "512 bytes of 1.0 KiB", "8.9 of 42.7 MiB", "1.0 KiB of 682.7 GiB",
                      "1.0 of 4096.0 TiB"],
                     [[0, 1023], [512, 1024], [9_332_326, 44_739_242], [1024, 733_007_751_850],
                      [1 << 40, 1 << 52]].map { |pair| Words.bytes_of(*pair) }
      end

      test "bytes alone are written in their largest unit" do
        assert_equal ["0 bytes", "1,023 bytes", "1.0 KiB", "256.0 MiB", "1.5 GiB"],
                     [0, 1023, 1024, 256 << 20, 3 << 29].map { |bytes| Words.bytes(bytes) }
      end

      test "spans have their two largest units" do
        assert_equal ["0 seconds", "1 second", "1 minute 30 seconds", "2 hours", "1 day", "1 day 1 hour", "30 days"],
                     [0, 1, 90, 7200, 86_400, 90_061, 30 * 86_400.0].map { |seconds| Words.span(seconds) }
      end
    end
  end
end
