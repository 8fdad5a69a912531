# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/stats"

module Larder
  module Lab
    module Bench
      class StudentTest < ActiveSupport::TestCase
        # Degrees of freedom, probability, quantile: Abramowitz and Stegun, table 26.10, and R's qt.
        TABLE = [[1, 0.995, 63.6567], [2, 0.975, 4.30265], [4, 0.975, 2.77645], [6, 0.99, 3.14267], [10, 0.9, 1.37218],
                 [30, 0.995, 2.75000], [120, 0.99, 2.35782], [5.5, 0.5, 0.0]].freeze

        test "quantiles are those of printed tables" do
          TABLE.each do |degrees, probability, value|
            assert_in_delta value, Student.quantile(probability, degrees), 1e-4
          end
        end

        test "the tail beyond a quantile is what is missing to 1" do
          [1, 3, 7.25, 40, 1000].product([0.001, 0.2, 0.6, 0.98, 0.99999]) do |degrees, probability|
            assert_in_delta 1.0 - probability, Student.tail(Student.quantile(probability, degrees), degrees), 1e-9
          end
        end
      end
    end
  end
end
