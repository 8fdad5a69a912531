# frozen_string_literal: true

# Many keys at a time: get_multi, set_multi, delete_multi, each_key.

require "test_helper"

class LarderCacheMultiTest < ActiveSupport::TestCase
  include TemporaryCaches

  test "get_multi answers the found keys in their order" do
    cache.set("a", "1")
    cache.set("c", "3")
    found = cache.get_multi(%w[c b a])
    assert_equal({ "c" => "3", "a" => "1" }, found)
    assert_equal %w[c a], found.keys
    assert_equal Encoding::ASCII_8BIT, found["a"].encoding
    assert_equal({}, cache.get_multi([]))
  end

  test "many pairs of all sizes go through batches" do
    random = Random.new(3)
    sizes = [0, 1, 100, 1023, 1024, 1025, 3000, 20_000]
    pairs = 1000.times.to_h { |i| ["key/#{i}", random.bytes(sizes[i % sizes.size])] }
    bigger = open_cache("bigger.larder", size: 32 << 20)
    assert_equal [], bigger.set_multi(pairs)
    assert_equal pairs, bigger.get_multi(pairs.keys)
    assert_equal pairs.keys.sort, bigger.each_key.to_a.uniq.sort
  end

  [63, 64, 65, 128].each do |count|
    test "#{count} pairs at the edge of a batch" do
      pairs = count.times.to_h { |i| ["k#{i}", "v#{i}"] }
      assert_equal [], cache.set_multi(pairs)
      assert_equal pairs, cache.get_multi(pairs.keys)
      assert_equal count, cache.delete_multi(pairs.keys)
      assert_equal({}, cache.get_multi(pairs.keys))
    end
  end

  test "set_multi with much to copy stores all, without the GVL" do
    pairs = 6.times.to_h { |i| ["large/#{i}", i.to_s * 100_000] }
    pairs["small"] = "s"
    assert_equal [], cache.set_multi(pairs)
    assert_equal pairs, cache.get_multi(pairs.keys)
  end

  test "get_multi reads values of which each is copied without the GVL" do
    pairs = 4.times.to_h { |i| ["large/#{i}", i.to_s * 300_000] }
    cache.set_multi(pairs)
    assert_equal pairs, cache.get_multi(pairs.keys)
  end

  test "the same key twice is answered once" do
    cache.set("a", "1")
    assert_equal({ "a" => "1" }, cache.get_multi(%w[a a a]))
    assert_equal 1, cache.delete_multi(%w[a a])
  end

  test "keys that are changed after a read do not change its answer" do
    cache.set("a", "1")
    key = +"a"
    found = cache.get_multi([key])
    key << "b"
    assert_equal({ "a" => "1" }, found)
  end

  test "each_key visits the keys with the prefix" do
    cache.set_multi({ "user/1" => "a", "user/2" => "b", "book/1" => "c", "" => "d", "user" => "e" })
    assert_equal ["user/1", "user/2"], cache.each_key(prefix: "user/").to_a.uniq.sort
    assert_equal ["", "book/1", "user", "user/1", "user/2"], cache.each_key.to_a.uniq.sort
    assert_equal [], cache.each_key(prefix: "z").to_a
    assert_equal [], cache.each_key(prefix: "z" * 5000).to_a
  end

  test "each_key returns the cache with a block and an Enumerator without" do
    cache.set("a", "1")
    seen = []
    assert_same(cache, cache.each_key { |key| seen << key })
    assert_equal ["a"], seen
    assert_instance_of Enumerator, cache.each_key
    assert_equal "a", cache.each_key.next
  end

  test "each_key yields keys as binary Strings" do
    cache.set("schlüssel\0", "v")
    assert_equal ["schlüssel\0".b], cache.each_key.to_a
  end

  test "each_key visits every key of many, of any length" do
    keys = 3000.times.map { |i| "#{i}/#{"k" * (i % 50)}" } + ["l" * 4095, "m" * 4000]
    cache.set_multi(keys.to_h { |key| [key, ""] })
    assert_equal keys.sort, cache.each_key.to_a.uniq.sort
  end

  test "the block of each_key may change the cache and leave in every way" do
    cache.set_multi(500.times.to_h { |i| ["k#{i}", "v"] })
    cache.each_key { |key| cache.delete(key) }
    assert_equal [], cache.each_key.to_a
    cache.set_multi(500.times.to_h { |i| ["k#{i}", "v"] })
    assert_equal :left, (cache.each_key { break :left })
    assert_raises(StopIteration) { cache.each_key { raise StopIteration } }
    assert_equal :thrown, (catch(:out) { cache.each_key { throw :out, :thrown } })
  end

  test "a String subclass whose comparison changes the Array does no harm" do
    keys = []
    hostile = Class.new(String) do
      define_method(:eql?) do |other|
        keys.clear
        super(other)
      end
    end
    200.times { |i| keys << hostile.new("k#{i % 10}") }
    cache.set_multi(10.times.to_h { |i| ["k#{i}", "v"] })
    assert_equal "v", cache.get_multi(keys)["k9"]
    assert_empty keys
  end
end
