# frozen_string_literal: true

require "test_helper"

# Tags of a Larder::Cache, its stamps, and a million of them.
class LarderCacheTagsTest < ActiveSupport::TestCase
  include TemporaryCaches

  test "an item goes with each of its tags" do
    cache.set("a", "1", tags: %w[red round])
    assert cache.add("b", "2", tags: ["red"], ttl: 60)
    assert_not cache.add("b", "3", tags: ["round"])
    cache.set("c", "3")
    assert_same true, cache.delete_tagged("round", "nobody")
    assert_equal({ "b" => "2", "c" => "3" }, cache.get_multi(%w[a b c]))
    cache.delete_tagged("red")
    assert_equal({ "c" => "3" }, cache.get_multi(%w[a b c]))
    assert_equal 3, cache.stats[:tag_deletes]
  end

  test "tags are any bytes, also of values that are stored without the GVL" do
    tags = ["a\0b", "ä", "\xFF", "", "t" * 5000]
    tags.each do |tag|
      cache.set("long", "l" * 500_000, tags: [tag, "x"])
      assert cache.exist?("long")
      cache.delete_tagged(tag.b)
      assert_not cache.exist?("long")
    end
  end

  test "a stamp makes a deletion count that came while a value was computed" do
    stamp = cache.stamp
    cache.delete_tagged("t")
    assert cache.set("k", "old", tags: ["t"], stamp: stamp)
    assert_nil cache.get("k")
    assert cache.set("k", "new", tags: ["t"], stamp: cache.stamp)
    assert_equal "new", cache.get("k")
    cache.clear
    assert_not cache.set("k", "of before the clear", tags: ["t"], stamp: stamp)
    assert_predicate cache.stamp, :frozen?
  end

  test "a number has tags if it was absent" do
    assert_equal [1, 2], (Array.new(2) { cache.increment("n", tags: ["t"]) })
    cache.delete_tagged("t")
    assert_equal 1, cache.increment("n")
  end

  test "wrong arguments raise and store nothing" do
    assert_raises(TypeError) { cache.set("k", "v", tags: "t") }
    assert_raises(TypeError) { cache.set("k", "v", tags: [:t]) }
    assert_raises(TypeError) { cache.set("k", "v", tags: ["t"], stamp: 5) }
    assert_raises(TypeError) { cache.set("k", "v", tags: ["t"], stamp: "short") }
    assert_raises(TypeError) { cache.delete_tagged("t", nil) }
    assert_match "up to 128 tags, not 129", assert_raises(ArgumentError) {
      cache.set("k", "v", tags: ["t"] * 129)
    }.message
    assert_nil cache.get("k")
    assert cache.set("k", "v", tags: ["t"] * Larder::Cache::MAX_TAGS)
    assert cache.delete_tagged
    assert_equal "v", cache.get("k")
  end

  test "resize keeps tags" do
    cache.set("a", "1", tags: ["t"])
    cache.set("b", "2", tags: ["u"])
    cache.delete_tagged("u")
    cache.resize(4 << 20, keep: true)
    assert_equal({ "a" => "1" }, cache.get_multi(%w[a b]))
    cache.delete_tagged("t")
    assert_nil cache.get("a")
    assert_operator cache.verify[:stale_bytes], :>, 0
  end

  slow_test "of a million items with a tag of their own those are gone whose tag was deleted, and no other" do
    big = open_cache("million.larder", size: 256 << 20)
    tags = Array.new(1_000_000) { |number| number.to_s(36) }
    tags.each { |tag| big.set("item #{tag}", "some forty bytes of a value, more or less", tags: [tag]) }
    there = tags.select { |tag| big.exist?("item #{tag}") }
    assert_operator there.size, :>, 990_000
    deleted = there.each_slice(3).map(&:first).first(262_144)
    big.delete_tagged(*deleted)
    assert_equal [], deleted.select { |tag| big.exist?("item #{tag}") }
    kept = there - deleted
    assert_equal kept.size, kept.count { |tag| big.exist?("item #{tag}") }
    assert_equal [0, 0], big.stats.values_at(:forgotten_tags, :forgotten_misses)
  end
end
