# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # fetch, its block and the options that change what it stores.
  class FetchTest < StoreCase
    test "a miss runs the block and stores what it returns" do
      assert_equal "made", store.fetch("key") { "made" }
      assert_equal "made", store.read("key")
    end

    test "a hit does not run the block" do
      store.write("key", "stored")
      assert_equal("stored", store.fetch("key") { flunk "the block ran" })
    end

    test "a stored nil or false is a hit" do
      store.write("nil", nil)
      store.write("false", false)
      assert_nil(store.fetch("nil") { flunk "the block ran" })
      assert_same false, (store.fetch("false") { flunk "the block ran" })
    end

    test "the block is given the name" do
      assert_equal([:a, 1], store.fetch([:a, 1]) { |name| name })
    end

    test "fetch without a block reads" do
      assert_nil store.fetch("key")
      store.write("key", 1)
      assert_equal 1, store.fetch("key")
    end

    test "force runs the block whatever is stored, and needs one" do
      store.write("key", "old")
      assert_equal "new", store.fetch("key", force: true) { "new" }
      assert_equal "new", store.read("key")
      assert_raises(ArgumentError) { store.fetch("key", force: true) }
    end

    test "skip_nil does not store nil, and stores false" do
      assert_nil store.fetch("nil", skip_nil: true) { nil }
      assert_same false, store.fetch("false", skip_nil: true) { false }
      assert_same false, store.exist?("nil")
      assert_same true, store.exist?("false")
    end

    test "skip_nil may be an option of the store" do
      cache = new_store(skip_nil: true)
      assert_nil cache.fetch("nil") { nil }
      assert_same false, cache.exist?("nil")
      assert_nil cache.fetch("kept", skip_nil: false) { nil }
      assert_same true, cache.exist?("kept")
    end

    test "nil is stored where skip_nil is not given" do
      store.fetch("nil") { nil }
      assert_same true, store.exist?("nil")
    end

    test "the block may set expires_in" do
      store.fetch("key", expires_in: 1.hour) do |_name, options|
        assert_equal 1.hour, options.expires_in
        options.expires_in = 1.minute
        "v"
      end
      travel(59.seconds) { assert_equal "v", store.read("key") }
      travel(61.seconds) { assert_nil store.read("key") }
    end

    test "the block may set expires_at, which takes the place of expires_in" do
      store.fetch("key", expires_in: 1.hour) do |_name, options|
        options.expires_at = 1.minute.from_now
        assert_nil options.expires_in
        "v"
      end
      travel(59.seconds) { assert_equal "v", store.read("key") }
      travel(61.seconds) { assert_nil store.read("key") }
    end

    test "the block may set the version" do
      store.fetch("key") do |_name, options|
        assert_nil options.version
        options.version = "v2"
        "v"
      end
      assert_equal "v", store.read("key", version: "v2")
      assert_nil store.read("key", version: "v1")
    end

    test "a raise in the block passes and stores nothing" do
      assert_raises(IOError) { store.fetch("key") { raise IOError, "broken" } }
      assert_same false, store.exist?("key")
      assert_equal 1, store.fetch("key") { 1 }
    end

    test "a throw and a break out of the block store nothing" do
      assert_equal(:thrown, catch(:out) { store.fetch("a") { throw :out, :thrown } })
      assert_equal(:broken, store.fetch("b") { break :broken })
      assert_same false, store.exist?("a")
      assert_same false, store.exist?("b")
    end

    test "a fetch of the same key inside the block does not hang, and the outer value stays" do
      value = store.fetch("key") { "#{store.fetch("key") { "inner" }} and outer" }
      assert_equal "inner and outer", value
      assert_equal "inner and outer", store.read("key")
    end

    test "a thread killed in the block leaves the key usable" do
      entered = Queue.new
      thread = Thread.new { store.fetch("key") { entered << true && sleep } }
      entered.pop
      thread.kill.join
      assert_equal "next", store.fetch("key") { "next" }
    end

    test "threads that fetch at once all get a value that a block made" do
      values = Array.new(8) { |i| Thread.new { store.fetch("key") { i } } }.map(&:value)
      assert(values.all? { |value| (0...8).cover?(value) })
      assert_includes values, store.read("key")
    end

    test "options of the call are used by the write of a miss" do
      store.fetch("key", expires_in: 1.minute, namespace: "n", version: 3) { "v" }
      assert_equal "v", store.read("key", namespace: "n", version: 3)
      assert_nil store.read("key")
      assert_nil store.read("key", namespace: "n", version: 4)
      travel(61.seconds) { assert_nil store.read("key", namespace: "n", version: 3) }
    end

    test "fetch of a raw value gives text" do
      assert_equal "2", store.fetch("key", raw: true) { "2" }
      assert_equal("2", store.fetch("key", raw: true) { flunk "the block ran" })
    end
  end
end
