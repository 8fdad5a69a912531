# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Reports
      class FiguresTest < ActiveSupport::TestCase
        test "numbers have three significant digits" do
          expected = { 0.0812 => "0.0812", 0.812 => "0.812", 1 => "1.00", 9.996 => "10.0", 28.23 => "28.2",
                       99.96 => "100", 131.4 => "131", 12_345 => "12,300", 0 => "0" }
          assert_equal expected.values, expected.keys.map { |number| Figures.significant(number) }
        end

        test "units go up by thousands" do
          assert_equal ["0.812", "12 B", "1.02 kB", "3.17 Gbit/s", "1.31 µs", "9.4 %", "28,871 %"],
                       [Figures.micros(8.12e-7), Figures.bytes(12), Figures.bytes(1024), Figures.bits(3.17e9),
                        Figures.duration(1.31e-6), Figures.percent(0.0941), Figures.percent(288.71)]
        end
      end
    end
  end
end
