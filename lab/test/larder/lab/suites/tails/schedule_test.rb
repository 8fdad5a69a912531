# frozen_string_literal: true

require "test_helper"
require "larder/lab/suites/tails/schedule"

module Larder
  module Lab
    module Suites
      module Tails
        class ScheduleTest < ActiveSupport::TestCase
          test "random arrivals ascend, keep the rate, and are the seed's" do
            schedule = make(rate: 1000.0, calls: 20_000)
            assert_equal schedule.sort, schedule
            assert_in_delta 20.0, schedule.last / 1e9, 0.5
            assert_equal schedule, make(rate: 1000.0, calls: 20_000)
          end

          test "gaps between random arrivals are exponential: their deviation is their mean" do
            gaps = make(rate: 1000.0, calls: 20_000).each_cons(2).map { |one, other| other - one }
            mean = Bench::Stats.mean(gaps)
            deviation = Math.sqrt(Bench::Stats.mean(gaps.map { |gap| (gap - mean)**2 }))
            assert_in_delta 1.0, deviation / mean, 0.05
          end

          private

          def make(rate:, calls:)
            Schedule.make(rate: rate, calls: calls, random: Random.new(7))
          end
        end
      end
    end
  end
end
