# frozen_string_literal: true

require "test_helper"
require "larder/sessions/lifetimes"
require "larder/sessions/record"

module Larder
  module Sessions
    class LifetimesTest < ActiveSupport::TestCase
      test "nothing said, a session lives for ever" do
        lifetimes = Lifetimes.new
        refute lifetimes.over?(record(0), 10**10)
        assert_nil lifetimes.left(record(0), 5)
      end

      test "an idle session ends a minute late at most, since a use may be unwritten for that long" do
        lifetimes = Lifetimes.new(idle: 600)
        assert_equal [false, true], [659, 660].map { |now| lifetimes.over?(record(0), now) }
        assert_equal 660, lifetimes.left(record(0), 0)
      end

      test "where it may be idle for a short while only, uses are written more often" do
        assert_equal [60, 60, 15.0, 0.75], [nil, 240, 60, 3].map { |idle|
          Lifetimes.new(idle: idle).used_every(record(0))
        }
        assert_equal [false, true], [3, 4].map { |now| Lifetimes.new(idle: 3).over?(record(0), now) }
        assert_equal 15.0, Lifetimes.new(idle: 600, anonymous: 60).used_every(record(0))
      end

      test "one in which nobody is signed in ends sooner, and never later" do
        lifetimes = Lifetimes.new(idle: 600, anonymous: 60)
        assert_equal [true, false], [nil, "1"].map { |user| lifetimes.over?(record(0, user: user), 75) }
        assert_equal [75.0, 660], [nil, "1"].map { |user| lifetimes.left(record(0, user: user), 0) }
        assert_equal 60, Lifetimes.new(idle: 60, anonymous: 600).anonymous
      end

      test "the longest life counts from the beginning, used or not" do
        lifetimes = Lifetimes.new(idle: 600, max: 1000)
        assert_equal [false, true], [999, 1000].map { |now| lifetimes.over?(record(990), now) }
        assert_equal [660, 100, 1], [0, 900, 1001].map { |now| lifetimes.left(record(now), now) }
      end

      private

      def record(used, user: nil)
        Record.of(began: 0, used: used, values: "", users: [user].compact)
      end
    end
  end
end
