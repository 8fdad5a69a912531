# frozen_string_literal: true

require "test_helper"

module Larder
  class Cache
    # Items that eviction leaves.
    class PinTest < ActiveSupport::TestCase
      include TemporaryCaches

      setup { @cache = open_cache("pinned.larder", size: 1 << 20) }

      attr_reader :cache

      test "what is pinned outlives whatever is stored after it" do
        5000.times { |i| cache.set("filler #{i}", "x" * 200) }
        50.times { |i| assert cache.set("pinned #{i}", "here", pin: true) && cache.set("other #{i}", "here") }
        20_000.times { |i| cache.set("later #{i}", "x" * 200) }
        found = ->(name) { 50.times.count { |i| cache.get("#{name} #{i}") == "here" } }
        assert_equal 50, found.call("pinned")
        assert_operator found.call("other"), :<, 50
      end

      test "every way to store can pin, and the next one decides again" do
        pinned = -> { cache.stats[:pinned_bytes].positive? }
        assert cache.add("key", "1", pin: true)
        assert pinned.call
        assert cache.replace("key", "2")
        refute pinned.call
        assert cache.replace("key", "3", pin: true)
        assert pinned.call
        assert cache.cas("key", "3", "4")
        refute pinned.call
        assert cache.cas("key", "4", "5", pin: true)
        assert pinned.call
        assert_equal 6, cache.increment("key")
        assert pinned.call
        cache.delete("key")
        refute pinned.call
      end

      test "a cache full of what is pinned says so, and loses none of it" do
        stored = 0
        error = assert_raises(FullError) { loop { cache.add("key #{stored}", "x" * 500, pin: true) && stored += 1 } }
        assert_match(/pinned items take two thirds of the cache; delete some or enlarge the file: key "key #{stored}"/,
                     error.message)
        assert_raises(FullError) { cache.set("key #{stored}", "x" * 500, pin: true) }
        assert_equal(stored, (0...stored).count { |i| cache.get("key #{i}") == "x" * 500 })
        assert_operator cache.stats[:pinned_bytes], :<=, cache.stats[:pinned_room_bytes]
        assert cache.set("other", "is stored")
      end

      test "a refused swap leaves what was there" do
        assert cache.add("key", "small", pin: true)
        assert_raises(FullError) { 10_000.times { |i| cache.add("filler #{i}", "x" * 500, pin: true) } }
        assert_raises(FullError) { cache.cas("key", "small", "x" * 2000, pin: true) }
        assert_equal "small", cache.get("key")
      end

      test "a long pinned value with tags can be touched" do
        long = open_cache("long.larder", size: 64 << 20)
        value = "x" * (long.max_pinned - 100)
        assert long.set("key", value, pin: true, tags: ["tag"], ttl: 60)
        assert_equal true, long.touch("key", ttl: 3600)
        assert_in_delta 3600, long.ttl("key"), 60
        assert_equal value, long.get("key")
        assert_predicate long.stats[:pinned_bytes], :positive?
      end

      test "what is too long to be pinned is an error that names the key" do
        assert cache.set("key", "x" * (cache.max_pinned - 3), pin: true)
        error = assert_raises(InvalidArgument) { cache.set("key", "x" * (cache.max_pinned + 8), pin: true) }
        assert_match(/max_pinned is #{cache.max_pinned}; store it in parts, or not pinned: key "key"/, error.message)
      end
    end
  end
end
