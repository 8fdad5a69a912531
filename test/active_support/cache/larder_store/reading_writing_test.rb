# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # read, write, exist? and delete of one entry.
  class ReadingWritingTest < StoreCase
    Point = Struct.new(:x, :y)

    VALUES = {
      "a string" => "grüße", "an empty string" => "", "a binary string" => "\xFF\x00\x04\x08".b,
      "an ASCII string" => "abc".encode("US-ASCII"), "a Latin-1 string" => "ü".encode("ISO-8859-1"),
      "an integer" => 42, "a large integer" => 2**80, "a float" => -0.5, "a symbol" => :sym, "true" => true,
      "false" => false, "nil" => nil, "an array" => [1, [2, nil]], "a hash" => { "a" => { b: 1.5 } },
      "a time" => Time.at(1_700_000_000, 123_456, :nsec), "a struct" => Point.new(1, 2), "a range" => (1..3)
    }.freeze

    VALUES.each do |kind, value|
      test "#{kind} is read as it was written" do
        assert_same true, store.write("key", value)
        read = store.read("key")

        value.nil? ? assert_nil(read) : assert_equal(value, read)
        assert_equal value.encoding, read.encoding if value.is_a?(String)
        assert_same true, store.exist?("key")
      end
    end

    test "a value of a megabyte is read as it was written" do
      large = Random.new(7).bytes(900_000)
      assert_same true, store.write("large", large)
      assert_equal large, store.read("large")
    end

    test "a missing key reads as nil and does not exist" do
      assert_nil store.read("nobody")
      assert_same false, store.exist?("nobody")
    end

    test "a second write replaces the first" do
      store.write("key", "long" * 100)
      assert_same true, store.write("key", "short")
      assert_equal "short", store.read("key")
    end

    test "changing a value after it was written or read does not change the cache" do
      list = ["a"]
      store.write("list", list)
      list << "b"
      store.read("list") << "c"
      store.read("list").first << "d"
      assert_equal ["a"], store.read("list")
    end

    test "strings that are read can be changed" do
      store.write("key", "frozen")
      assert_equal "frozen!", store.read("key") << "!"
    end

    test "delete answers whether there was something" do
      store.write("key", nil)
      assert_same true, store.delete("key")
      assert_same false, store.delete("key")
      assert_nil store.read("key")
      assert_same false, store.exist?("key")
    end

    test "unless_exist writes only where nothing is" do
      assert_same true, store.write("key", "first", unless_exist: true)
      assert_same false, store.write("key", "second", unless_exist: true)
      assert_equal "first", store.read("key")
    end

    test "unless_exist takes a stored nil or false for something" do
      store.write("nil", nil)
      store.write("false", false)
      assert_same false, store.write("nil", 1, unless_exist: true)
      assert_same false, store.write("false", 1, unless_exist: true)
    end

    test "unless_exist lets one of many threads win" do
      wins = Array.new(8) { |i| Thread.new { store.write("lock", i, unless_exist: true) } }.map(&:value)
      assert_equal 1, wins.count(true)
      assert_equal wins.index(true), store.read("lock")
    end

    test "a value that cannot be serialized raises as in Rails and leaves the cache as it was" do
      store.write("key", "before")
      assert_raises(TypeError) { store.write("key", proc {}) }
      assert_equal "before", store.read("key")
    end

    test "a value whose class is gone is a miss" do
      self.class.const_set(:Vanishing, Class.new)
      store.write("key", self.class::Vanishing.new)
      self.class.send(:remove_const, :Vanishing)

      assert_nil store.read("key")
      assert_same false, store.exist?("key")
      assert_equal({}, store.read_multi("key"))
      assert_equal "new", store.fetch("key") { "new" }
    end

    test "many keys live beside each other" do
      500.times { |i| store.write("key/#{i}", { "n" => i }) }
      assert_equal (0...500).to_a, (Array.new(500) { |i| store.read("key/#{i}")["n"] })
    end

    test "a second store on the same file sees what the first wrote" do
      store.write("key", [1, 2])
      assert_equal [1, 2], new_store.read("key")
    end

    test "with_local_cache yields" do
      assert_equal(:inside, store.with_local_cache { :inside })
      assert_not_respond_to store, :middleware
    end

    test "cache versioning is supported" do
      assert_same true, ActiveSupport::Cache::LarderStore.supports_cache_versioning?
    end

    test "options of a call do not change those of the store" do
      given = { expires_in: 60, namespace: "n" }
      cache = new_store(**given)
      before = cache.options.dup
      cache.write("a", 1, expires_in: 5, namespace: "other", compress: true)
      cache.fetch("b", expires_in: 1) { |_, options| options.expires_in = 2 }
      cache.read_multi("a", "b", namespace: "other")
      cache.increment("c", 1, expires_in: 9)

      assert_equal before, cache.options
      assert_equal({ expires_in: 60, namespace: "n" }, given)
    end

    test "frozen options are taken" do
      cache = ActiveSupport::Cache::LarderStore.new(path_of("frozen.larder"), { size: SIZE, expires_in: 60 }.freeze)
      call = { expires_in: 5 }.freeze
      assert cache.write("key", 1, call)
      assert_equal 1, cache.read("key", call)
    end
  end
end
