# frozen_string_literal: true

require "test_helper"
require "larder/inspection/rates"

module Larder
  module Inspection
    class RatesTest < ActiveSupport::TestCase
      BEFORE = { hits: 10, misses: 10, sets: 5, evictions: 1 }.freeze

      test "rates are changes by second" do
        rates = Rates.between(BEFORE, { hits: 16, misses: 12, sets: 7, evictions: 1 }, 2.0)
        assert_equal [3.0, 1.0, 1.0, 0.0, 4.0, 0.75], [*rates.to_a, rates.reads, rates.hit_ratio]
      end

      test "without reads there is no hit ratio" do
        assert_nil Rates.between(BEFORE, BEFORE, 1.0).hit_ratio
      end

      test "a file that was replaced counts from zero" do
        assert_equal [4.0, 11.0, 0.0, 0.0],
                     Rates.between(BEFORE, { hits: 4, misses: 11, sets: 0, evictions: 0 }, 1.0).to_a
      end
    end
  end
end
