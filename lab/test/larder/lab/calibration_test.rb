# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class CalibrationTest < ActiveSupport::TestCase
      test "a block has as many laps as it takes to last long enough" do
        calibration = calibrate(count: 1000, block_seconds: 1.0, call: 1.0e-5)
        assert_equal 100, calibration.laps("fast", "one-thread", "hit")
      end

      test "a slow store has one lap" do
        assert_equal 1, calibrate(count: 1000, block_seconds: 1.0, call: 0.1).laps("fast", "one-thread", "hit")
      end

      test "a store that answers in no time still ends" do
        calibration = calibrate(count: 1, block_seconds: 1.0, call: 1e-9)
        assert_equal Calibration::MOST_LAPS, calibration.laps("fast", "one-thread", "hit")
      end

      test "without a length every block is one lap" do
        assert_equal 1, calibrate(count: 1000, block_seconds: nil, call: 1e-9).laps("fast", "one-thread", "hit")
      end

      test "the estimate counts starting, calling and emptying, for every row and round" do
        calibration = calibrate(count: 1000, block_seconds: 0.01, call: 1.0e-5, clearing: 5.0e-6, boot: 0.5)
        assert_in_delta 0.515, calibration.seconds("fast"), 1e-9
        assert_in_delta 0.515 * 6, calibration.total(["fast", "fast"], 3), 1e-9
      end

      test "fitting lowers the count until the run is short enough" do
        calibration = calibrate(count: 10_000, block_seconds: 0.001, call: 1.0e-4)
        assert calibration.fit(0.5, ["fast"], 1)
        assert_operator calibration.total(["fast"], 1), :<=, 0.5
        assert_operator calibration.count, :>, 3_000
        assert_not calibration.fit(0.5, ["fast"], 1)
      end

      test "fitting stops at the least count" do
        calibration = calibrate(count: 1000, block_seconds: 0.001, call: 1.0)
        calibration.fit(1.0, ["fast"], 1, least: 200)
        assert_equal 200, calibration.count
      end

      test "a trial is a tenth of a lap within bounds, and never more than a lap" do
        assert_equal [20, 100, 250, 500], [20, 900, 2500, 100_000].map { |count| Calibration.trial(count) }
      end

      test "a store whose lap would last too long makes fewer calls, a round number of them" do
        calibration = calibrate(count: 10_000, block_seconds: 1.0, lap_seconds: 1.5, call: 1.0e-3)
        assert_equal 1_500, calibration.count_for("fast")
        assert_equal 2_400, calibrate(count: 10_000, block_seconds: 1.0, lap_seconds: 1.5,
                                      call: 6.2e-4).count_for("fast")
      end

      test "the slowest step says how many" do
        calibration = calibrate(count: 10_000, block_seconds: 1.0, lap_seconds: 1.0, call: 1.0e-5)
        calibration.add("fast", "one-thread", "miss", seconds: 0.05, calls: 50, clearing: 0.0)
        assert_equal 1_000, calibration.count_for("fast")
        assert_equal 100, calibration.laps("fast", "one-thread", "hit")
      end

      test "the slowest store makes some calls, and never more than asked for" do
        assert_equal Calibration::LEAST, calibrate(count: 10_000, block_seconds: 1.0, lap_seconds: 1.0,
                                                   call: 1.0).count_for("fast")
        assert_equal 50, calibrate(count: 50, block_seconds: 1.0, lap_seconds: 0.01, call: 1.0).count_for("fast")
      end

      test "a store that is fast enough makes all calls, and so does each where no lap is too long" do
        assert_equal 10_000, calibrate(count: 10_000, block_seconds: 1.0, lap_seconds: 1.5,
                                       call: 1.0e-4).count_for("fast")
        assert_equal 10_000, calibrate(count: 10_000, block_seconds: 1.0, call: 1.0).count_for("fast")
      end

      private

      def calibrate(count:, block_seconds:, call:, lap_seconds: nil, clearing: 0.0, boot: 0.0)
        calibration = Calibration.new(count: count, block_seconds: block_seconds, lap_seconds: lap_seconds)
        calibration.booted("fast", boot)
        calibration.add("fast", "one-thread", "hit", seconds: call * 50, calls: 50, clearing: clearing * 50)
        calibration
      end
    end
  end
end
