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

        test "seconds per call become microseconds and calls per second" do
          assert_equal "0.812", Figures.micros(8.12e-7)
          assert_equal "1,230,000", Figures.rate(8.12e-7)
          assert_equal "20", Figures.rate(0.05)
          assert_equal "0.420", Figures.rate(2.38)
        end
      end
    end
  end
end
