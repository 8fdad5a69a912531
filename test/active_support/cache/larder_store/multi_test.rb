# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # read_multi, fetch_multi, write_multi, delete_multi.
  class MultiTest < StoreCase
    Product = Struct.new(:cache_key, :cache_version)

    test "read_multi answers the names that were found, as they were given" do
      store.write("a", 1)
      store.write("b", nil)
      assert_equal({ "a" => 1, :b => nil }, store.read_multi("a", :b, "c"))
      assert_equal({}, store.read_multi("c"))
      assert_equal({}, store.read_multi)
    end

    test "two names of one key are both answered" do
      store.write("a", 1)
      assert_equal({ "a" => 1, :a => 1 }, store.read_multi("a", :a))
    end

    test "values of one key under two names are objects of their own" do
      values_of_one = -> { store.read_multi("a", :a).values_at("a", :a) }
      store.write("a", [["text"]])
      [values_of_one.call, Larder::Store::FastPath.without(&values_of_one)].each do |one, other|
        one.first.first << "!"
        assert_equal [["text"]], other
      end
    end

    test "the multi forms ask an overridden method of one entry, as Rails' stores do" do
      store.singleton_class.class_eval <<~RUBY, __FILE__, __LINE__ + 1
        private def write_entry(key, entry, **) = entry.value == :refused ? false : super
        private def read_entry(key, **) = key == "hidden" ? nil : super
        private def delete_entry(key, **) = key == "stays" ? false : super
      RUBY
      store.write_multi({ "a" => 1, "b" => :refused, "hidden" => 2, "stays" => 3 })
      assert_equal({ "a" => 1, "stays" => 3 }, store.read_multi("a", "b", "hidden", "stays"))
      assert_equal 1, store.delete_multi(["a", "stays"])
      assert_equal({ "stays" => 3 }, store.read_multi("a", "stays"))
    end

    test "read_multi takes the options of read" do
      cache = new_store(namespace: "n")
      cache.write("a", "1", raw: true)
      cache.write("b", 2, version: 1)
      assert_equal({ "a" => "1" }, cache.read_multi("a", raw: true))
      assert_equal({}, cache.read_multi("b", version: 2))
      assert_equal({ "b" => 2 }, cache.read_multi("b", version: 1))
      assert_equal({}, cache.read_multi("b", namespace: nil))
    end

    test "read_multi leaves out what has expired" do
      store.write("short", 1, expires_in: 10)
      store.write("long", 2, expires_in: 100)
      travel(11.seconds) { assert_equal({ "long" => 2 }, store.read_multi("short", "long")) }
    end

    test "many keys are read in the order of the names" do
      pairs = (0...300).to_h { |i| ["k#{i}", i] }
      store.write_multi(pairs)
      names = pairs.keys.shuffle(random: Random.new(3))
      assert_equal names, store.read_multi(*names).keys
      assert_equal pairs, store.read_multi(*names)
    end

    test "write_multi stores every pair" do
      assert store.write_multi({ "a" => 1, [:b, 2] => nil })
      assert_equal 1, store.read("a")
      assert_same true, store.exist?("b/2")
      assert store.write_multi({})
    end

    test "write_multi takes the options of write" do
      store.write_multi({ "a" => 1, "b" => 2 }, expires_in: 60, namespace: "n", version: 7)
      assert_equal({ "a" => 1, "b" => 2 }, store.read_multi("a", "b", namespace: "n", version: 7))
      travel(61.seconds) { assert_equal({}, store.read_multi("a", "b", namespace: "n", version: 7)) }
    end

    test "write_multi of raw values makes counters" do
      store.write_multi({ "a" => 1, "b" => 20 }, raw: true)
      assert_equal 2, store.increment("a")
      assert_equal 19, store.decrement("b")
    end

    test "write_multi with unless_exist leaves what is there" do
      store.write("a", "old")
      store.write_multi({ "a" => "new", "b" => "new" }, unless_exist: true)
      assert_equal({ "a" => "old", "b" => "new" }, store.read_multi("a", "b"))
    end

    test "write_multi gives each model its own version" do
      store.write_multi({ Product.new("p/1", 1) => "one", Product.new("p/2", 5) => "two" })
      assert_equal "one", store.read(Product.new("p/1", 1))
      assert_nil store.read(Product.new("p/2", 6))
    end

    test "fetch_multi runs the block for the missing and stores its values" do
      store.write("a", 1)
      values = store.fetch_multi("c", "a", "b") { |name| "made #{name}" }
      assert_equal({ "c" => "made c", "a" => 1, "b" => "made b" }, values)
      assert_equal %w[c a b], values.keys
      assert_equal "made b", store.read("b")
      assert_equal({}, store.fetch_multi { flunk "the block ran" })
      assert_raises(ArgumentError) { store.fetch_multi("a") }
    end

    test "fetch_multi with force makes all anew" do
      store.write("a", 1)
      assert_equal({ "a" => "new" }, store.fetch_multi("a", force: true) { "new" })
      assert_equal "new", store.read("a")
    end

    test "fetch_multi with skip_nil does not store nil" do
      assert_equal({ "a" => nil, "b" => 1 }, store.fetch_multi("a", "b", skip_nil: true) { |name| 1 if name == "b" })
      assert_same false, store.exist?("a")
      assert_same true, store.exist?("b")
    end

    test "the multi forms of no names answer nothing, whatever the options of the call" do
      [{ single_flight: true }, { stale_if_error: 60 }, { stale_while_revalidate: 60 }, { early_refresh: true },
       { tags: "t" }, { single_flight: true, force: true }, { expires_in: 60 }].each do |options|
        caches = [store, new_store("set.larder", **options.slice(:single_flight, :stale_if_error))]
        caches.each do |cache|
          assert_equal({}, cache.fetch_multi(**options) { flunk })
          assert_equal({}, cache.fetch_multi(options) { flunk })
          assert_equal({}, cache.fetch_multi { flunk })
          assert_equal({}, cache.read_multi(**options))
          assert_equal({}, cache.write_multi({}, **options))
        end
      end
    end

    test "delete_multi counts what was there" do
      store.write_multi({ "a" => 1, "b" => 2, "c" => 3 })
      assert_equal 2, store.delete_multi(["a", "c", "nobody"])
      assert_equal({ "b" => 2 }, store.read_multi("a", "b", "c"))
      assert_equal 0, store.delete_multi([])
    end

    test "delete_multi takes a namespace" do
      store.write("a", 1, namespace: "n")
      assert_equal 0, store.delete_multi(["a"])
      assert_equal 1, store.delete_multi(["a"], namespace: "n")
    end
  end
end
