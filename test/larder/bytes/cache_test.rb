# frozen_string_literal: true

# Larder::Cache: one key at a time. What else it promises is tested by theme in test/larder/cache/.

require "test_helper"
require "objspace"

class LarderCacheTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes

  test "what was set is read back, and what was not is a miss" do
    assert_equal true, cache.set("a", "1")
    assert_equal "1", cache.get("a")
    assert_nil cache.get("b")
  end

  test "a value is replaced by a later one of any size" do
    [10, 0, 5000, 3, 300_000, 4096, 1].each do |size|
      cache.set("k", "x" * size)
      assert_equal "x" * size, cache.get("k")
    end
  end

  test "values of every size around the limits of the copies come back as they were" do
    random = Random.new(1)
    sizes = [0, 1, 2, 1023, 1024, 1025, 4095, 4096, 4097, 65_535, 65_536, 262_143, 262_144, 262_145, 700_000]
    sizes.each do |size|
      value = random.bytes(size)
      assert cache.set("sized", value), "a value of #{size} bytes"
      assert_equal value, cache.get("sized"), "a value of #{size} bytes"
    end
  end

  test "values come back as binary Strings of their own that may be changed" do
    cache.set("k", "schön")
    first = cache.get("k")
    assert_equal Encoding::ASCII_8BIT, first.encoding
    assert_equal "schön".b, first
    first << "er"
    assert_equal "schön".b, cache.get("k")
  end

  test "keys are their bytes, whatever their encoding" do
    cache.set("é", "1")
    assert_equal "1", cache.get("é".b)
    assert_nil cache.get("é".encode("ISO-8859-1"))
    cache.set("\xFF\xFE", "broken")
    assert_equal "broken", cache.get("\xFF\xFE".b)
  end

  test "keys and values may contain NUL and be empty" do
    cache.set("", "empty key")
    cache.set("\0", "nul")
    cache.set("a\0b", "\0\0")
    cache.set("a", "")
    assert_equal "empty key", cache.get("")
    assert_equal "nul", cache.get("\0")
    assert_equal "\0\0", cache.get("a\0b")
    assert_equal "", cache.get("a")
    assert cache.exist?("a")
  end

  test "frozen, shared and sliced Strings are stored as their bytes" do
    text = "0123456789" * 1000
    slice = text[5, 9000]
    cache.set(slice[0, 20].freeze, slice)
    text.upcase!
    assert_equal ("0123456789" * 1000)[5, 9000], cache.get("56789012345678901234")
  end

  test "a String that is changed after it was stored without the GVL leaves the value alone" do
    large = +"a" * 500_000
    cache.set("large", large)
    large[0] = "b"
    large << "c"
    assert_equal "a" * 500_000, cache.get("large")
    assert_equal 500_001, large.bytesize
  end

  test "add stores only where the key is absent" do
    assert_equal true, cache.add("k", "1")
    assert_equal false, cache.add("k", "2")
    assert_equal "1", cache.get("k")
    cache.delete("k")
    assert_equal true, cache.add("k", "3")
  end

  test "replace stores only where the key is present" do
    assert_equal false, cache.replace("k", "1")
    assert_nil cache.get("k")
    cache.set("k", "1")
    assert_equal true, cache.replace("k", "2")
    assert_equal "2", cache.get("k")
  end

  test "cas stores only over the expected value" do
    assert_equal false, cache.cas("k", "", "1")
    cache.set("k", "1")
    assert_equal false, cache.cas("k", "2", "3")
    assert_equal false, cache.cas("k", "11", "3")
    assert_equal true, cache.cas("k", "1", "3")
    assert_equal "3", cache.get("k")
  end

  test "cas compares no expiry" do
    [nil, 60].each do |ttl|
      cache.set("k", "1", ttl: ttl)
      assert_equal true, cache.cas("k", "1", "2"), ttl.inspect
      assert_equal Float::INFINITY, cache.ttl("k")
    end
  end

  test "cas compares and stores large values" do
    old = "o" * 400_000
    new = "n" * 500_000
    cache.set("k", old)
    assert_equal false, cache.cas("k", "#{old[0..-2]}x", new)
    assert_equal true, cache.cas("k", old, new)
    assert_equal new, cache.get("k")
  end

  test "delete says whether there was something" do
    cache.set("k", "1")
    assert_equal true, cache.delete("k")
    assert_equal false, cache.delete("k")
    assert_nil cache.get("k")
  end

  test "exist? says whether a read would hit" do
    assert_equal false, cache.exist?("k")
    cache.set("k", "1")
    assert_equal true, cache.exist?("k")
  end

  test "clear empties the cache and returns it" do
    cache.set("k", "1")
    assert_same cache, cache.clear
    assert_nil cache.get("k")
    assert_equal [], cache.each_key.to_a
    cache.set("k", "2")
    assert_equal "2", cache.get("k")
  end

  test "stats count what was done" do
    before = cache.stats
    cache.set("k", "1")
    cache.get("k")
    cache.get("nobody")
    cache.delete("k")
    cache.increment("n")
    after = cache.stats
    counted = %i[hits misses sets deletes increments].to_h { |name| [name, after[name] - before[name]] }
    assert_equal({ hits: 1, misses: 1, sets: 1, deletes: 1, increments: 1 }, counted)
    assert_equal 1, after[:items]
    assert_equal cache.size, after[:size_bytes]
    others = %i[hit_ratio fullness age oldest_age counts_age configurations_full_age]
    assert(after.except(*others).values.all?(Integer))
  end

  test "stats tell the hit ratio, how full it is and the age of the oldest" do
    assert_equal [nil, 0.0, nil], cache.stats.values_at(:hit_ratio, :fullness, :oldest_age)
    cache.set("k", "1")
    3.times { cache.get("k") }
    cache.get("nobody")
    sleep(0.01)
    stats = cache.stats
    assert_equal 0.75, stats[:hit_ratio]
    assert_includes 0.001..0.1, stats[:fullness]
    assert_includes 0.01..60.0, stats[:oldest_age]
    assert_equal 0.0, stats[:counts_age]
    4000.times { |i| cache.set("k#{i}", "v" * 4000) }
    assert_includes 0.9..1.0, cache.stats[:fullness]
    assert_equal [0, nil], cache.clear.stats.values_at(:items, :oldest_age)
  end

  test "pids are of those that have it open" do
    assert_equal [Process.pid], cache.pids
    opened = cache
    other, both = in_child { [Process.pid, opened.tap { |here| here.get("k") }.pids] }
    assert_equal [Process.pid, other].sort, both.sort
    assert_equal [Process.pid], cache.pids
  end

  test "a value of many parts is one item" do
    cache.set("large", "x" * 900_000)
    cache.set("small", "x")
    assert_equal [2, 2], [cache.stats[:items], cache.verify[:items]]
    cache.delete("large")
    assert_equal 1, cache.stats[:items]
  end

  test "a large value that is read counts as one hit" do
    cache.set("large", "x" * 300_000)
    before = cache.stats[:hits]
    cache.get("large")
    assert_equal 1, cache.stats[:hits] - before
  end

  test "verify finds a sound file" do
    100.times { |i| cache.set("k#{i}", "v" * i * 10) }
    report = cache.verify
    assert_equal 0, report[:problems]
    assert_nil report[:first]
    assert_equal 100, report[:items]
    assert_operator report[:records], :>=, 100
  end

  test "inspect names the file and no content" do
    cache.set("secret", "data")
    assert_equal "#<Larder::Cache #{path_of} #{cache.size} bytes>", cache.inspect
    cache.close
    assert_equal "#<Larder::Cache #{path_of} closed>", cache.inspect
  end

  test "a cache is made by open alone, and neither copied nor marshalled" do
    assert_raises(NoMethodError) { Larder::Cache.new }
    assert_raises(TypeError) { Larder::Cache.allocate }
    assert_raises(TypeError) { cache.dup }
    assert_raises(TypeError) { cache.clone }
    assert_raises(TypeError) { Marshal.dump(cache) }
  end

  test "a subclass opens itself" do
    subclass = Class.new(Larder::Cache)
    subclass.open(path_of("subclass"), size: SIZE) { |opened| assert_instance_of subclass, opened }
  end

  test "the object's own memory is small, the file's is not counted" do
    assert_includes 1..1000, ObjectSpace.memsize_of(cache)
  end

  test "the engine's version is the gem's" do
    assert_equal Larder::VERSION, Larder::Cache::ENGINE_VERSION
  end
end
