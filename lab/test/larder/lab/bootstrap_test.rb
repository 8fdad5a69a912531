# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class BootstrapTest < ActiveSupport::TestCase
      test "the distribution is that of all samples there are" do
        [[3.0], [1.0, 2.0], [1.0, 2.0, 4.0], [1.0, 5.0, 2.0, 9.0], [1.0, 1.0, 3.0, 4.0, 8.0]].each do |values|
          assert_distribution counted(values), Bootstrap.medians(values)
        end
      end

      test "probabilities add up to 1, however many values there are" do
        [6, 7, 50, 99, 100, 5_000].each do |count|
          distribution = Bootstrap.medians(Array.new(count, &:to_f))
          assert_in_delta 1.0, distribution.sum(&:last), 1e-6, "of #{count}"
          assert_in_delta count / 2.0, Bootstrap.quantile(distribution, 0.5), count / 50.0 + 1
        end
      end

      test "quotients are those of all pairs, but for nothing by nothing" do
        halves = [[0.0, 0.5], [2.0, 0.5]]
        assert_equal [[0.0, 0.25], [1.0, 0.25], [Float::INFINITY, 0.25]], Bootstrap.quotients(halves, halves)
      end

      test "a quantile is the least value that reaches the share" do
        distribution = [[1.0, 0.25], [2.0, 0.5], [3.0, 0.25]]
        quantiles = [0.0, 0.25, 0.5, 0.76, 1.0].map { |at| Bootstrap.quantile(distribution, at) }
        assert_equal [1.0, 1.0, 2.0, 3.0, 3.0], quantiles
      end

      private

      # By trying every sample.
      def counted(values)
        medians = values.repeated_permutation(values.size).map { |sample| Statistics.median(sample) }
        medians.tally.transform_values { |times| times.fdiv(medians.size) }
      end

      def assert_distribution(expected, actual)
        merged = actual.each_with_object(Hash.new(0.0)) { |(value, probability), sums| sums[value] += probability }
        merged.reject! { |_, probability| probability < 1e-12 }
        assert_equal expected.keys.sort, merged.keys.sort
        expected.each { |value, probability| assert_in_delta probability, merged[value], 1e-9 }
      end
    end
  end
end
