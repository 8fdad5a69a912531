# frozen_string_literal: true

require "test_helper"
require "active_support/cache"

module Larder
  # Items as people look at them: their sizes, ages, reads and times, without a read.
  class CacheItemsTest < ActiveSupport::TestCase
    include TemporaryCaches

    def now_ms
      (Time.now.to_f * 1000).to_i
    end

    def item_in_walk(key)
      cache.each_item(prefix: key).find { |item| item.key == key }
    end

    test "an item has what was stored with it" do
      before = now_ms
      cache.set("plain", "value", ttl: 60, tags: %w[a b])
      cache.set("pinned", "x" * 10, pin: true)
      cache.increment("number", 41)
      plain, pinned, number = %w[plain pinned number].map { |key| cache.item(key) }
      assert_equal ["plain", 5, 2, 0, 0], [plain.key, plain.size, plain.tags, plain.reads, plain.flags]
      assert_in_delta before + 60_000, plain.expires_at_ms, 10_000
      assert_operator plain.stored_after_ms, :>=, before - 1000
      assert_equal [10, nil, nil, true, false], pinned.to_h.values_at(:size, :expires_at_ms, :kept_until_ms, :pinned,
                                                                      :counter)
      assert_equal [2, true], [number.size, number.counter]
      assert_equal [plain, pinned, number], [item_in_walk("plain"), item_in_walk("pinned"), item_in_walk("number")]
      assert_nil cache.item("absent")
    end

    test "a walk goes on from a position, also in another process" do
      keys = Array.new(3000) { |i| "k#{i}".tap { |key| cache.set(key, "v") } }
      items, position = cache.items_from(0, prefix: "k")
      found = items.map(&:key)
      before = 0.0
      while position
        progress = cache.progress(position)
        assert_includes before..1.0, progress
        before = progress
        items, position = open_cache.items_from(position, prefix: "k")
        found.concat(items.map(&:key))
      end
      assert_equal keys.sort, found.sort
      assert_operator before, :>, 0.5
      found, position = cache.keys_from(0, prefix: "k1")
      while position
        more, position = cache.keys_from(position, prefix: "k1")
        found.concat(more)
      end
      assert_equal keys.grep(/\Ak1/).sort, found.sort
    end

    test "any number is a position" do
      cache.set("k", "v")
      assert_equal ["k"], cache.items_from((2**64) - 1).first.map(&:key)
      assert_in_delta 0.0, cache.progress((2**64) - 1)
      [-1, 2**64, "0", nil].each do |position|
        assert_raises(InvalidArgument) { cache.items_from(position) }
        assert_raises(InvalidArgument) { cache.keys_from(position) }
        assert_raises(InvalidArgument) { cache.progress(position) }
      end
    end

    test "seconds are counted from the given time" do
      item = Cache::Item.new("k", 1, 5000, 9000, 1000)
      assert_equal [4.0, 0.0], [item.ttl(1000), item.ttl(6000)]
      assert_equal [0.5, 0.0], [item.age(1500), item.age(500)]
      assert_nil Cache::Item.new("k", 1, nil, nil, 1000).ttl(1000)
    end

    test "values of any length are read, and nothing counts them" do
      values = ["", "v", "x" * 600, Random.bytes(300_000)]
      values.each_with_index { |value, i| cache.set("k#{i}", value) }
      before = cache.stats.slice(:hits, :misses)
      values.each_with_index do |value, i|
        item, bytes = cache.item_with_value("k#{i}")
        assert_equal [value.b, value.bytesize, Encoding::BINARY], [bytes, item.size, bytes.encoding]
      end
      assert_nil cache.item_with_value("absent")
      cache.each_item { |item| cache.item(item.key) }
      assert_equal before, cache.stats.slice(:hits, :misses)
    end

    test "a walk shows all items, or those with a prefix" do
      cache.set_multi((0...3000).to_h { |i| ["user/#{i}", "v" * (i % 50)] })
      cache.set("other", "v")
      assert_equal 3001, cache.each_item.map(&:key).uniq.size
      sizes = cache.each_item(prefix: "user/").to_h { |item| [item.key, item.size] }
      assert_equal((0...3000).to_h { |i| ["user/#{i}", i % 50] }, sizes)
      assert_same cache, cache.each_item { |item| item }
    end

    test "a stale item is shown until it is dropped" do
      store = ActiveSupport::Cache.lookup_store(:larder_store, cache.path)
      store.write("stale", "v", expires_in: 0.05, stale_if_error: 60)
      sleep 0.01 while cache.exist?("stale")
      assert_equal 0.0, cache.item("stale").ttl(now_ms)
      assert_operator item_in_walk("stale").kept_until_ms, :>, now_ms
    end

    test "items of another configuration are shown" do
      Cache.open(cache.path, configuration: 7) { |other| other.set("its", "v") }
      assert_nil cache.get("its")
      assert_equal ["its", "v"], [item_in_walk("its").key, cache.item_with_value("its").last]
    end

    test "a key has a lease while its value is computed" do
      store = ActiveSupport::Cache.lookup_store(:larder_store, cache.path)
      store.write("old", 1, expires_in: 0.05, stale_while_revalidate: 60)
      sleep 0.01 while cache.exist?("old")
      store.fetch("first", single_flight: true) do
        store.fetch("old", single_flight: true) { @leases = cache.each_lease.sort_by(&:key) }
      end
      assert_equal [["first", Process.pid, false], ["old", Process.pid, true]],
                   @leases.map { |lease| lease.to_h.values_at(:key, :pid, :stale_value) }
      assert(@leases.all? { |lease| lease.age >= 0 && lease.left > 1 })
      assert_empty cache.each_lease.to_a
    end

    test "a walk of leases ends by itself, or when its time is over" do
      cache.set_multi((0...30_000).to_h { |i| ["user/#{i}", ""] })
      assert_equal true, cache.each_lease { |lease| flunk(lease.key) }
      assert_equal false, cache.each_lease(seconds: 0) { |lease| flunk(lease.key) }
    end

    test "misuse is refused" do
      assert_raise(TypeError) { cache.item(:symbol) }
      assert_raise(InvalidArgument) { cache.item("k" * 5000) }
      assert_raise(TypeError) { cache.each_item(prefix: 1).to_a }
      cache.close
      assert_raise(ClosedError) { cache.item("k") }
      assert_raise(ClosedError) { cache.each_item.to_a }
    end
  end
end
