# frozen_string_literal: true

# What Larder::Cache answers to arguments that are wrong or at a limit: a clear error, and nothing half done.

require "test_helper"

class LarderCacheArgumentsTest < ActiveSupport::TestCase
  include TemporaryCaches

  NO_STRINGS = [nil, 1, 1.5, :symbol, ["k"], { "k" => "v" }, Object.new].freeze

  # Every method that takes a key, called with it.
  WITH_KEY = {
    get:       ->(cache, key) { cache.get(key) },
    get_multi: ->(cache, key) { cache.get_multi(["a", key]) },
    set:       ->(cache, key) { cache.set(key, "v") },
    add:       ->(cache, key) { cache.add(key, "v") },
    replace:   ->(cache, key) { cache.replace(key, "v") },
    cas:       ->(cache, key) { cache.cas(key, "v", "w") },
    set_multi: ->(cache, key) { cache.set_multi({ key => "v" }) },
    delete:    ->(cache, key) { cache.delete(key) },
    delete_multi: ->(cache, key) { cache.delete_multi(["a", key]) },
    increment: ->(cache, key) { cache.increment(key) },
    decrement: ->(cache, key) { cache.decrement(key) },
    touch:     ->(cache, key) { cache.touch(key, ttl: 1) },
    exist?:    ->(cache, key) { cache.exist?(key) },
    ttl:       ->(cache, key) { cache.ttl(key) }
  }.freeze

  WITH_KEY.each do |name, call|
    test "#{name} refuses a key that is no String, naming its class" do
      NO_STRINGS.each do |key|
        error = assert_raises(TypeError) { call.(cache, key) }
        assert_equal "key must be a String, got #{key.class}", error.message
      end
    end

    test "#{name} refuses a key above the limit, naming it" do
      error = assert_raises(Larder::InvalidArgument) { call.(cache, "k" * 4096) }
      assert_match(/longer than 4095 bytes: key "kkkkk+"\.\.\. \(4096 bytes\)/, error.message)
    end
  end

  test "a key at the limit is a key like others" do
    key = "k" * Larder::Cache::MAX_KEY
    assert cache.set(key, "v")
    assert_equal "v", cache.get(key)
    assert_nil cache.get("#{key[0..-2]}x")
    assert cache.touch(key, ttl: 10)
    assert cache.delete(key)
  end

  test "values that are no Strings are refused, naming their class" do
    NO_STRINGS.each do |value|
      calls = [-> { cache.set("k", value) }, -> { cache.add("k", value) }, -> { cache.replace("k", value) },
               -> { cache.cas("k", "v", value) }, -> { cache.set_multi({ "k" => value }) }]
      calls.each do |call|
        error = assert_raises(TypeError, &call)
        assert_equal "value must be a String, got #{value.class}", error.message
      end
      error = assert_raises(TypeError) { cache.cas("k", value, "v") }
      assert_equal "expected must be a String, got #{value.class}", error.message
    end
  end

  test "a value at the limit is stored and one above is refused with its key named" do
    limit = cache.max_value
    value = Random.new(2).bytes(limit)
    assert cache.set("k", value)
    assert_equal value, cache.get("k")
    error = assert_raises(Larder::InvalidArgument) { cache.set("k", "#{value}x") }
    assert_equal "the value is larger than the cache takes: it has #{limit + 1} bytes, and max_value is #{limit}; " \
                 'enlarge the file (larder resize): key "k" (1 bytes)', error.message
  end

  test "each call that stores a value names its size and the limit" do
    above = "x" * (cache.max_value + 1)
    [-> { cache.add("new", above) }, -> { cache.replace("k", above) }, -> { cache.set_multi({ "k" => above }) },
     -> { cache.set("k", "v") && cache.cas("k", "v", above) }].each do |call|
      assert_match(/it has #{above.bytesize} bytes, and max_value is #{cache.max_value};/,
                   assert_raises(Larder::InvalidArgument, &call).message)
    end
    pinned = assert_raises(Larder::InvalidArgument) { cache.set("k", "x" * cache.max_pinned, pin: true) }
    assert_match(/it has #{cache.max_pinned + 1} bytes with its key, and max_pinned is #{cache.max_pinned}; store/,
                 pinned.message)
  end

  test "a refused overwrite leaves no old value" do
    cache.set("k", "old")
    assert_raises(Larder::InvalidArgument) { cache.set("k", "x" * (cache.max_value + 1)) }
    assert_nil cache.get("k")
  end

  test "set_multi stores the others before it raises for a value above the limit" do
    cache.set("large", "old")
    assert_raises(Larder::InvalidArgument) do
      cache.set_multi({ "a" => "1", "large" => "x" * (cache.max_value + 1), "b" => "2" })
    end
    assert_equal({ "a" => "1", "b" => "2" }, cache.get_multi(%w[a large b]))
  end

  test "set_multi with a wrong class stores nothing" do
    assert_raises(TypeError) { cache.set_multi({ "a" => "1", "b" => 2 }) }
    assert_nil cache.get("a")
  end

  test "collections of the wrong class are refused, naming it" do
    assert_equal "keys must be an Array, got String", assert_raises(TypeError) { cache.get_multi("a") }.message
    assert_equal "keys must be an Array, got Hash", assert_raises(TypeError) { cache.delete_multi({}) }.message
    assert_equal "pairs must be a Hash, got Array", assert_raises(TypeError) { cache.set_multi([]) }.message
    assert_equal "prefix must be a String, got Integer",
                 assert_raises(TypeError) { cache.each_key(prefix: 1).to_a }.message
  end

  test "a TTL that is no number is refused, naming its class" do
    ["5", :five, [1], Object.new, false, true, Complex(1, 1)].each do |ttl|
      [-> { cache.set("k", "v", ttl: ttl) }, -> { cache.touch("k", ttl: ttl) },
       -> { cache.increment("k", ttl: ttl) }].each do |call|
        error = assert_raises(TypeError, &call)
        assert_equal "ttl must be a number of seconds, got #{ttl.class}", error.message
      end
    end
  end

  test "a TTL that is NaN or too long is refused, naming it" do
    assert_equal "ttl is NaN; give seconds",
                 assert_raises(Larder::InvalidArgument) { cache.set("k", "v", ttl: Float::NAN) }.message
    [Float::INFINITY, 1e20, Larder::Cache::MAX_TTL + 1, 2**80].each do |ttl|
      error = assert_raises(Larder::InvalidArgument) { cache.set("k", "v", ttl: ttl) }
      assert_equal "ttl #{ttl} is above 2199023255 seconds; nil never expires", error.message
    end
    assert_not cache.exist?("k")
  end

  test "the longest TTL is taken" do
    assert cache.set("k", "v", ttl: Larder::Cache::MAX_TTL)
    assert_in_delta Larder::Cache::MAX_TTL, cache.ttl("k"), 60
  end

  test "a time that is no Unix time is refused, naming it" do
    assert_equal "now must be a number of seconds, got Time",
                 assert_raises(TypeError) { cache.get("k", now: Time.now) }.message
    [Float::INFINITY, 1e30].each do |now|
      assert_equal "now #{now} is not a Unix time in seconds",
                   assert_raises(Larder::InvalidArgument) { cache.get("k", now: now) }.message
    end
  end

  test "amounts of counters are Integers of 64 bits" do
    assert_equal "by must be an Integer, got Float", assert_raises(TypeError) { cache.increment("k", 1.0) }.message
    assert_equal "initial must be an Integer, got String",
                 assert_raises(TypeError) { cache.increment("k", initial: "1") }.message
    error = assert_raises(Larder::InvalidArgument) { cache.increment("k", 2**63) }
    assert_equal "by 9223372036854775808 does not fit 64 bits", error.message
    assert_raises(Larder::InvalidArgument) { cache.decrement("k", -(2**63)) }
    assert_not cache.exist?("k")
  end

  test "the errors are Larder's and standard ones" do
    [Larder::InvalidArgument, Larder::OpenError, Larder::BusyError, Larder::FullError, Larder::NotANumber,
     Larder::ClosedError, Larder::DamagedError].each { |error| assert_equal Larder::Error, error.superclass }
    assert_equal StandardError, Larder::Error.superclass
  end
end
