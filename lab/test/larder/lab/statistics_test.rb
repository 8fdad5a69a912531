# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class StatisticsTest < ActiveSupport::TestCase
      test "the median of an odd number of values is the middle one" do
        assert_equal 3.0, Statistics.median([5, 1, 3])
      end

      test "the median of an even number of values lies between the two in the middle" do
        assert_equal 2.5, Statistics.median([4, 1, 3, 2])
      end

      test "the argument is not changed" do
        values = [3, 1, 2].freeze
        Statistics.median(values)
        assert_equal [3, 1, 2], values
      end

      test "percentiles interpolate between the closest ranks" do
        values = [15, 20, 35, 40, 50]
        assert_equal 15.0, Statistics.percentile(values, 0)
        assert_in_delta 29.0, Statistics.percentile(values, 40), 1e-9
        assert_in_delta 48.0, Statistics.percentile(values, 95), 1e-9
        assert_equal 50.0, Statistics.percentile(values, 100)
      end

      test "a percentile outside 0..100 is refused" do
        error = assert_raises(ArgumentError) { Statistics.percentile([1], 101) }
        assert_match(/101/, error.message)
      end

      test "mean and spread have their textbook values" do
        values = [2, 4, 4, 4, 5, 5, 7, 9]
        assert_equal 5.0, Statistics.mean(values)
        assert_in_delta 7 / 4.5, Statistics.spread(values), 1e-12
      end

      test "no values are refused everywhere" do
        %i[mean median spread].each do |function|
          assert_raises(ArgumentError, function.to_s) { Statistics.public_send(function, []) }
        end
      end
    end
  end
end
