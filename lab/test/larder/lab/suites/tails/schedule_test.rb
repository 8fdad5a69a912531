# frozen_string_literal: true

require "test_helper"
require "larder/lab/suites/tails/schedule"

module Larder
  module Lab
    module Suites
      module Tails
        class ScheduleTest < ActiveSupport::TestCase
          test "constant arrivals are as far apart as the rate says" do
            assert_equal [0, 2_000_000, 4_000_000], make("constant", rate: 500.0, calls: 3)
          end

          test "random arrivals ascend, keep the rate, and are the seed's" do
            schedule = make("poisson", rate: 1000.0, calls: 20_000)
            assert_equal schedule.sort, schedule
            assert_in_delta 20.0, schedule.last / 1e9, 0.5
            assert_equal schedule, make("poisson", rate: 1000.0, calls: 20_000)
          end

          test "gaps between random arrivals are exponential: their deviation is their mean" do
            gaps = make("poisson", rate: 1000.0, calls: 20_000).each_cons(2).map { |one, other| other - one }
            mean = Statistics.mean(gaps)
            deviation = Math.sqrt(Statistics.mean(gaps.map { |gap| (gap - mean)**2 }))
            assert_in_delta 1.0, deviation / mean, 0.05
          end

          private

          def make(arrivals, rate:, calls:)
            Schedule.make(arrivals, rate: rate, calls: calls, random: Random.new(7))
          end
        end
      end
    end
  end
end
