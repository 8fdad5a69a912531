# frozen_string_literal: true

require "test_helper"
require "larder/sessions"
require "larder/sessions/backends/file"

module Larder
  module Sessions
    # The index on a file; what it is for is tested with the statistics.
    class UsersTest < ActiveSupport::TestCase
      include TemporaryCaches

      KEYS = ("a".."z").map { |letter| letter * 32 }

      test "keys are had in the order in which they were entered" do
        KEYS.first(3).each { |key| enter("7", key) }
        assert_equal KEYS.first(3), users.keys("7")
        assert_equal [], users.keys("8")
      end

      test "one that is entered again is the newest" do
        [0, 1, 0].each { |i| enter("7", KEYS[i]) }
        assert_equal [KEYS[1], KEYS[0]], users.keys("7")
      end

      test "the oldest of more than the most are told, and named until they have ended" do
        few = Users.new(@backend, max: 2)
        told = KEYS.first(4).map do |key|
          few.add("7", key) { true }.last.each do |oldest|
            assert_includes few.keys("7"), oldest
            few.remove("7", oldest, seen: 0)
          end
        end
        assert_equal [[], [], [KEYS[0]], [KEYS[1]]], told
        assert_equal KEYS[2, 2], few.keys("7")
      end

      test "those that are no longer leave before others have to" do
        few = Users.new(@backend, max: 2)
        KEYS.first(2).each { |key| few.add("7", key) { true } }
        assert_equal([:stored, []], few.add("7", KEYS[2]) { |key| key != KEYS[0] })
        assert_equal KEYS[1, 2], few.keys("7")
      end

      test "of somebody who is signed in nowhere it is known for a while when that ended" do
        KEYS.first(2).each { |key| enter("7", key) }
        users.remove("7", KEYS[0], seen: 2**33)
        users.remove("7", KEYS[1], seen: 5)
        users.remove("7", KEYS[1], seen: 2**34)
        assert_equal [[], 2**33], [users.keys("7"), users.seen("7")]
        assert_equal 0, users.seen("8")
        assert_equal 0, cache.stats[:pinned_bytes]
        assert_in_delta 30 * 86_400, cache.ttl("u/7"), 60
      end

      test "an entry outlives the sessions that it names, though it is seldom prolonged" do
        now = 1000
        idle = Users.new(@backend, idle: 1600, clock: -> { now })
        idle.add("7", KEYS[0]) { true }
        assert_operator cache.ttl("u/7"), :>=, 1600 + 100
        before = cache.get("u/7")
        now += 100
        assert idle.keep("7", KEYS[0])
        assert_equal before, cache.get("u/7")
        now += 1
        assert idle.keep("7", KEYS[0])
        assert_not_equal before, cache.get("u/7")
        assert_operator cache.ttl("u/7"), :>=, 1600 + 100
        refute idle.keep("7", KEYS[1])
        refute idle.keep("8", KEYS[0])
        assert_equal [KEYS[0]], idle.keys("7")
      end

      test "an entry lives no shorter for a session that does, where it names others" do
        [Users.new(@backend), Users.new(@backend, idle: 86_400)].each_with_index do |long, user|
          short = Users.new(@backend, idle: 60)
          long.add(user.to_s, KEYS[0]) { true }
          life = cache.ttl("u/#{user}")
          short.add(user.to_s, KEYS[1]) { true }
          short.remove(user.to_s, KEYS[1], seen: 1)
          assert_in_delta life, cache.ttl("u/#{user}"), 60 unless life == Float::INFINITY
          assert_equal life, cache.ttl("u/#{user}") if life == Float::INFINITY
          short.remove(user.to_s, KEYS[0], seen: 1)
          assert_operator cache.ttl("u/#{user}"), :<, 3600, "nobody is named any more"
        end
      end

      test "an entry of another version is none" do
        cache.set("u/7", "\1#{"x" * 42}")
        assert_empty users.keys("7")
        enter("7", KEYS[0])
        assert_equal [KEYS[0]], users.keys("7")
      end

      test "as many as an entry has room for are named, and the oldest of more are told" do
        all = users
        keys = Array.new((cache.max_pinned / 32) + 1) { |i| [i].pack("N") * 8 }
        surplus = keys.map { |key| all.add("7" * Identity::MAX, key) { true } }
        assert_equal [:stored], surplus.map(&:first).uniq
        assert_equal keys - surplus.flat_map(&:last), all.keys("7" * Identity::MAX)
        assert_operator all.keys("7" * Identity::MAX).size, :>, 500
      end

      test "many at once lose nothing" do
        Array.new(4) { |i| Thread.new { 5.times { |j| enter("7", KEYS[(i * 5) + j]) } } }.each(&:join)
        assert_equal KEYS.first(20), users.keys("7").sort
      end

      private

      def users
        @backend ||= Backends::File.new(cache)
        @users ||= Users.new(@backend)
      end

      def enter(user, key)
        assert_equal(:stored, users.add(user, key) { true }.first)
      end

      def setup
        super
        users
      end
    end
  end
end
