# frozen_string_literal: true

require "test_helper"
require "larder/lab/suites"

module Larder
  module Lab
    module Suites
      module Tails
        class MeterTest < ActiveSupport::TestCase
          setup do
            @wrong = []
            @meter = Meter.new("right", ->(number, found) { @wrong << [number, found] })
          end

          test "back to back, every call is counted, and none before the time is up" do
            seen = []
            block = @meter.closed(0.02) { |i| seen << i && "right" }
            assert_equal (0...block.calls).to_a, seen
            assert_equal block.calls, block.histogram.count
            assert_operator block.seconds, :>=, 0.02
            assert_operator block.histogram.sum * 1e-9, :<=, block.seconds
            assert_empty @wrong
          end

          test "between chunks, outside the time, there is a pause that is told the next call" do
            paused = []
            block = @meter.closed(0.02, pause: ->(number) { paused << number }) { "right" }
            assert_equal 0, paused.first
            assert_equal paused.sort.uniq, paused
            assert_operator paused.size, :>=, block.calls / Meter::CHUNK
          end

          test "a wrong answer is told with its number, in both loops" do
            answer = ->(i) { i == 2 ? "wrong" : "right" }
            @meter.closed(0.001, &answer)
            @meter.open([0, 0, 0, 0], &answer)
            assert_equal [[2, "wrong"]] * 2, @wrong
          end

          test "who comes during a stall waits from when the call was due" do
            stall = ->(i) { sleep(0.06) if i == 10 }
            schedule = Array.new(100) { |i| i * 1_000_000 }
            block = @meter.open(schedule) { |i| stall.call(i) || "right" }
            late = block.histogram.to_h[:buckets].sum { |index, count| index > bucket_of(20_000_000) ? count : 0 }
            assert_operator late, :>=, 40, "calls 10 to 49 were due at least 20 ms before the stall was over"
            assert_equal 100, block.calls
          end

          test "a schedule that cannot be kept is given up" do
            block = @meter.open(Array.new(10_000) { |i| i * 1000 }) { sleep(0.1) && "right" }
            assert_operator block.calls, :<, 10_000
            assert_equal block.calls, block.histogram.count
          end

          test "objects are counted" do
            block = @meter.closed(0.02) { Object.new && "right" }
            assert_operator block.allocated, :>=, block.calls
          end

          test "random arrivals ascend, keep the rate, and are the seed's" do
            schedule = arrivals
            assert_equal schedule.sort, schedule
            assert_in_delta 20.0, schedule.last / 1e9, 0.5
            assert_equal schedule, arrivals
          end

          test "gaps between random arrivals are exponential: their deviation is their mean" do
            gaps = arrivals.each_cons(2).map { |one, other| other - one }
            mean = Bench::Stats.mean(gaps)
            deviation = Math.sqrt(Bench::Stats.mean(gaps.map { |gap| (gap - mean)**2 }))
            assert_in_delta 1.0, deviation / mean, 0.05
          end

          private

          def arrivals = Meter.schedule(1000.0, 20_000, Random.new(7))

          def bucket_of(nanoseconds)
            Histogram.new.tap { |histogram| histogram.record(nanoseconds) }.to_h[:buckets].first.first
          end
        end
      end
    end
  end
end
