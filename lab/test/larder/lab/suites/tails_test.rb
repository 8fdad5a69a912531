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

          test "back to back, every call and its objects are counted, and each chunk begins with a pause" do
            seen, paused = [], []
            block = @meter.closed(0.02, pause: ->(number) { paused << number }) { |i| seen << i.to_s && "right" }
            assert_equal (0...block.calls).map(&:to_s), seen
            assert_equal block.calls, block.histogram.count
            assert_operator block.allocated, :>=, block.calls
            assert_operator block.seconds, :>=, 0.02
            assert_operator block.histogram.sum * 1e-9, :<=, block.seconds
            assert_equal (0...block.calls).step(Meter::CHUNK).to_a, paused
            assert_empty @wrong
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

          test "random arrivals ascend, are the seed's, keep the rate, and the deviation of their gaps is their mean" do
            schedule = arrivals
            assert_equal schedule.sort, schedule
            assert_equal schedule, arrivals
            gaps = schedule.each_cons(2).map { |one, other| other - one }
            assert_in_delta 1e6, Bench::Stats.mean(gaps), 25_000
            assert_in_delta 1e12, Bench::Stats.mean(gaps.map { |gap| (gap - 1e6)**2 }), 1e11
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
