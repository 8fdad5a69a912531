# frozen_string_literal: true

require "test_helper"
require "larder/lab/sessions/row"

module Larder
  module Lab
    module Sessions
      class PopulationTest < ActiveSupport::TestCase
        AT = 1_700_000_000

        test "what is known of activity is what counting the uses one by one finds" do
          [100, 500, 86_400, 100_003].each do |size|
            population = Population.new(size, at: AT)
            uses = Array.new(size) { |number| population.used(number) }
            assert_equal uses.sort, uses
            assert_operator uses.first, :>, AT - Population::DAY
            assert_operator uses.last, :<=, AT
            [0, 1, 60, 300, 7200, 86_399, 86_400, 100_000].each do |seconds|
              assert_equal uses.count { |use| use >= AT - seconds }, population.active(seconds), "#{size}, #{seconds}"
            end
          end
        end

        test "sessions of a minute ago were used then or before, as late as there are any" do
          [100, 10_000, 1_000_000].each do |size|
            population = Population.new(size, at: AT)
            numbers = population.of_a_minute_ago(50)
            assert_equal 50, numbers.uniq.size
            assert_operator population.used(numbers.last), :<=, AT - 60
            assert_operator population.used(numbers.last + 1), :>, AT - 60 if numbers.last + 1 < size
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
