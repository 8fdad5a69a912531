# frozen_string_literal: true

require "test_helper"
require "larder/inspection/brief"

module Larder
  module Inspection
    class BriefTest < ActiveSupport::TestCase
      test "counts have six characters at most" do
        assert_equal %w[0 9,999 10.0k 12.4k 412k 1.9M 100k],
                     [0, 9999, 10_000, 12_408, 412_300, 1_931_004, 99_999].map { |number| Brief.count(number) }
      end

      test "rates below 10 have a decimal" do
        assert_equal %w[0 <0.1 0.2 1 9.9 10 12.4k],
                     [0, 0.01, 0.2, 1.0, 9.94, 9.96, 12_408.3].map { |number| Brief.rate(number) }
      end

      test "bytes have a unit, and 1024 make one of the next" do
        assert_equal %w[0B 1023B 1.0K 61.0M 1.2G 1.0M],
                     [0, 1023, 1024, 61 << 20, 1.2 * (1 << 30), (1 << 20) - 1].map { |number| Brief.bytes(number) }
      end

      test "times have the largest unit, and two from an hour on" do
        expected = { nil => nil, 0 => "0ms", 0.00001 => "<0.1ms", 0.0004 => "0.4ms", 0.041 => "41ms", 0.9999 => "1s",
                     1.24 => "1.2s", 45.4 => "45s", 59.6 => "1m", 720 => "12m", 3599 => "1h", 11_520 => "3h12m",
                     172_800 => "2d", 187_200 => "2d4h" }
        assert_equal expected, expected.to_h { |seconds, _| [seconds, Brief.span(seconds)] }
      end

      test "errors are a part of the number, and exact numbers have none" do
        assert_equal ["±3 %", nil, nil, "±999 %"],
                     [[29, 1000], [0, 9], [3, 0], [900, 1]].map { |pair| Brief.error(*pair) }
      end

      test "bars show that something is there" do
        assert_equal ["----", "#---", "##--", "####"], [0, 0.01, 0.5, 1].map { |share| Brief.bar(share, 4) }
      end

      test "names that are too long lose their middle" do
        assert_equal ["users ", "users", "vi…ow", "views/…s/_row"],
                     [["users", 6], ["users", 5], ["views/products/_row", 5], ["views/products/_row", 13]]
                       .map { |pair| Brief.fitted(*pair) }
      end

      test "wide characters take two columns, and combining ones none" do
        assert_equal [12, 4, 2], ["日本語の名前", "a日e", "e\u0301e"].map { |text| Brief.columns(text) }
        (5..14).each { |width| assert_equal width, Brief.columns(Brief.fitted("日本語の名前", width)) }
      end
    end
  end
end
