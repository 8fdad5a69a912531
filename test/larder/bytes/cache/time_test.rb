# frozen_string_literal: true

# Expiry: `ttl:` and `now:` of Larder::Cache. Time is given where it can be; the clock is waited for in one test only.

require "test_helper"
require "active_support/core_ext/integer/time"

class LarderCacheTimeTest < ActiveSupport::TestCase
  include TemporaryCaches

  NOW = 1_700_000_000

  test "an item expires when its TTL is over" do
    cache.set("k", "v", ttl: 10, now: NOW)
    assert_equal "v", cache.get("k", now: NOW + 9.999)
    assert_nil cache.get("k", now: NOW + 10)
    assert_nil cache.get("k", now: NOW + 11)
  end

  test "every reader decides by the time it is given" do
    cache.set("k", "v", ttl: 10, now: NOW)
    assert cache.exist?("k", now: NOW + 9)
    assert_not cache.exist?("k", now: NOW + 11)
    assert_equal({ "k" => "v" }, cache.get_multi(["k"], now: NOW + 9))
    assert_equal({}, cache.get_multi(["k"], now: NOW + 11))
    assert_equal ["k"], cache.each_key(now: NOW + 9).to_a
    assert_equal [], cache.each_key(now: NOW + 11).to_a
    assert_equal 1.0, cache.ttl("k", now: NOW + 9)
    assert_nil cache.ttl("k", now: NOW + 11)
  end

  test "every writer decides by the time it is given" do
    later = NOW + 11
    cache.set_multi({ "add" => "1", "replace" => "1", "cas" => "1", "delete" => "1", "touch" => "1", "count" => "5",
                      "delete_multi" => "1" }, ttl: 10, now: NOW)
    assert cache.add("add", "2", now: later)
    assert_not cache.replace("replace", "2", now: later)
    assert_not cache.cas("cas", "1", "2", now: later)
    assert_not cache.delete("delete", now: later)
    assert_not cache.touch("touch", ttl: 60, now: later)
    assert_equal 0, cache.delete_multi(["delete_multi"], now: later)
    assert_equal 1, cache.increment("count", now: later)
  end

  test "the clock decides where no time is given" do
    cache.set("short", "v", ttl: 0.05)
    cache.set("long", "v", ttl: 60)
    sleep(0.1)
    assert_nil cache.get("short")
    assert_equal "v", cache.get("long")
  end

  test "ttl tells the seconds left, infinity, or nil" do
    cache.set("timed", "v", ttl: 10, now: NOW)
    cache.set("forever", "v", now: NOW)
    assert_equal 10.0, cache.ttl("timed", now: NOW)
    assert_equal 2.5, cache.ttl("timed", now: NOW + 7.5)
    assert_equal Float::INFINITY, cache.ttl("forever", now: NOW)
    assert_nil cache.ttl("nobody")
    cache.set("clock", "v", ttl: 100)
    assert_includes 1.0..100.0, cache.ttl("clock")
  end

  test "a TTL of zero or less drops the key and is stored" do
    [0, -1, -0.5, -1e30, -Float::INFINITY].each do |ttl|
      cache.set("k", "old")
      assert_equal true, cache.set("k", "new", ttl: ttl), "ttl #{ttl}"
      assert_nil cache.get("k"), "ttl #{ttl}"
    end
    assert_equal [], cache.set_multi({ "k" => "v" }, ttl: 0)
    assert_nil cache.get("k")
  end

  test "an add with a TTL of zero or less changes nothing, a replace drops the key it finds" do
    assert_equal true, cache.add("k", "new", ttl: -1)
    assert_equal false, cache.replace("k", "new", ttl: -1)
    cache.set("k", "old")
    assert_equal false, cache.add("k", "new", ttl: 0)
    assert_equal "old", cache.get("k")
    assert_equal true, cache.replace("k", "new", ttl: 0)
    assert_nil cache.get("k")
  end

  test "cas and counters take a TTL of zero or less for the shortest" do
    cache.set("k", "old", now: NOW)
    assert_equal true, cache.cas("k", "old", "new", ttl: 0, now: NOW)
    assert_nil cache.get("k", now: NOW + 0.001)
    assert_equal 5, cache.increment("n", 5, ttl: -1, now: NOW)
    assert_equal 5, cache.increment("n", 5, ttl: -1, now: NOW + 0.001)
  end

  test "a positive TTL below a millisecond is one" do
    cache.set("k", "v", ttl: 1e-9, now: NOW)
    assert_equal 0.001, cache.ttl("k", now: NOW)
    assert_nil cache.get("k", now: NOW + 0.001)
  end

  test "a TTL is an Integer, a Float, a Rational or a duration" do
    { 2 => 2.0, 1.5 => 1.5, Rational(1, 4) => 0.25, 5.minutes => 300.0 }.each do |ttl, seconds|
      cache.set("k", "v", ttl: ttl, now: NOW)
      assert_equal seconds, cache.ttl("k", now: NOW)
    end
  end

  test "an overwrite takes the new TTL" do
    cache.set("k", "v", ttl: 10, now: NOW)
    cache.set("k", "w")
    assert_equal Float::INFINITY, cache.ttl("k")
    cache.set("k", "x", ttl: 5, now: NOW)
    assert_equal 5.0, cache.ttl("k", now: NOW)
  end

  test "touch gives a new life, an endless one, or none" do
    cache.set("k", "v", ttl: 10, now: NOW)
    assert cache.touch("k", ttl: 60, now: NOW + 5)
    assert_equal 60.0, cache.ttl("k", now: NOW + 5)
    assert cache.touch("k", now: NOW + 5)
    assert_equal Float::INFINITY, cache.ttl("k", now: NOW + 5)
    assert cache.touch("k", ttl: 0, now: NOW + 5)
    assert_nil cache.get("k")
    assert_not cache.touch("k", ttl: 60)
  end

  test "an increment leaves the life of a present counter as it was" do
    assert_equal 1, cache.increment("n", ttl: 10, now: NOW)
    assert_equal 2, cache.increment("n", ttl: 1000, now: NOW + 5)
    assert_equal 5.0, cache.ttl("n", now: NOW + 5)
    assert_nil cache.get("n", now: NOW + 10)
    assert_equal 1, cache.increment("n", now: NOW + 10)
    assert_equal Float::INFINITY, cache.ttl("n", now: NOW + 10)
  end

  test "prune drops what has expired and counts it" do
    5.times { |i| cache.set("short#{i}", "v", ttl: 10, now: NOW) }
    cache.set("forever", "v", now: NOW)
    assert_equal 0, cache.prune(now: NOW + 9)
    assert_equal 5, cache.prune(now: NOW + 10)
    assert_equal 0, cache.prune(now: NOW + 10)
    assert_equal 1, cache.stats[:items]
  end

  test "times before 1970 count as its first moment" do
    cache.set("k", "v", ttl: 10, now: -1000)
    assert_equal "v", cache.get("k", now: 0)
    assert_nil cache.get("k", now: 11)
  end

  test "a clock set back lets an item live longer, and no item lives in the past" do
    cache.set("k", "v", ttl: 10, now: NOW)
    assert_equal "v", cache.get("k", now: NOW - 3600)
    assert_equal 3610.0, cache.ttl("k", now: NOW - 3600)
  end
end
