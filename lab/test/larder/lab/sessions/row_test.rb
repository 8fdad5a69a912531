# frozen_string_literal: true

require "test_helper"
require "larder/lab/sessions/row"

module Larder
  module Lab
    module Sessions
      class PopulationTest < ActiveSupport::TestCase
        AT = 1_700_000_000

        test "sessions were used one after the other within a day" do
          [100, 500, 86_400, 100_003].each do |size|
            population = Population.new(size, at: AT)
            uses = Array.new(size) { |number| population.used(number) }
            assert_equal uses.sort, uses
            assert uses.minmax.all? { |use| use.between?(AT - Population::DAY + 1, AT) }
            assert_equal size / 2, population.active((Population::DAY / 2) - 1)
          end
        end

        test "sessions of a minute ago were used before that, as late as there are any" do
          [100, 10_000, 1_000_000].each do |size|
            population = Population.new(size, at: AT)
            numbers = population.of_a_minute_ago(50)
            assert_equal 50, numbers.uniq.size
            assert_operator population.used(numbers.last), :<, AT - 61
            assert_operator population.used(numbers.last + 1), :>=, AT - 61 if numbers.last + 1 < size
          end
        end

        test "a minute before the moment of asking is in the same hour" do
          [0, 1, 59, 60, 61, 3599].each do |second|
            moment = Population.moment((AT - (AT % 3600)) + second)
            assert_equal (moment - 60) / 3600, moment / 3600
          end
        end
      end
    end
  end
end
