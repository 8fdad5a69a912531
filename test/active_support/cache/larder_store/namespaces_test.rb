# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # namespace: of the store, of a call, a proc, and changed later.
  class NamespacesTest < StoreCase
    test "a namespace is put before the key" do
      store.write("key", 1, namespace: "n")
      assert_equal ["n:key"], store.cache.each_key.to_a
      assert_equal 1, store.read("n:key")
      assert_nil store.read("key")
    end

    test "stores with namespaces do not see each other's entries" do
      one = new_store(namespace: "one")
      two = new_store(namespace: "two")
      one.write("key", 1)
      two.write("key", 2)
      assert_equal [1, 2], [one.read("key"), two.read("key")]
      one.delete("key")
      assert_equal [nil, 2], [one.read("key"), two.read("key")]
    end

    test "the namespace of a call wins over the store's, and nil takes it away" do
      cache = new_store(namespace: "default")
      cache.write("key", 1, namespace: "other")
      cache.write("key", 2, namespace: nil)
      assert_nil cache.read("key")
      assert_equal [1, 2], [cache.read("key", namespace: "other"), cache.read("key", namespace: nil)]
    end

    test "statistics do not refuse a namespace that they have no room for" do
      stores = [*Array.new(12) { |i| "tenant#{i}" }, "a\0b", "n" * 64].map { |name| new_store(namespace: name) }
      assert(stores.all? { |cache| cache.write("key", 1) && cache.read("key") == 1 })
    end

    test "a proc is asked at each call" do
      tenant = "a"
      cache = new_store(namespace: -> { tenant })
      cache.write("key", 1)
      tenant = "b"
      assert_nil cache.read("key")
      cache.write_multi({ "key" => 2 })
      tenant = "a"
      assert_equal({ "key" => 1 }, cache.read_multi("key"))
      assert_equal 1, cache.delete_multi(["key"])
      tenant = "b"
      assert_equal 2, cache.read("key")
    end

    test "a proc may be given to a call" do
      store.write("key", 1, namespace: -> { "n" })
      assert_equal 1, store.read("n:key")
    end

    test "the namespace can be changed later" do
      store.write("key", "none")
      store.namespace = "one"
      assert_equal "one", store.namespace
      assert_nil store.read("key")
      store.write("key", "one")
      store.options[:namespace] = "two"
      assert_nil store.read("key")
      store.namespace = nil
      assert_equal "none", store.read("key")
      assert_equal "one", store.read("key", namespace: "one")
    end

    test "clear empties only the namespace, where there is one" do
      one = new_store(namespace: "one")
      one.write_multi({ "a" => 1, "b" => 2 })
      one.increment("n")
      store.write("a", "outside")
      store.write("one", "outside")
      assert_same true, one.clear
      assert_equal({}, one.read_multi("a", "b"))
      assert_nil one.read_counter("n")
      assert_equal({ "a" => "outside", "one" => "outside" }, store.read_multi("a", "one"))
    end

    test "clear takes a namespace" do
      store.write("a", 1, namespace: "n")
      store.write("a", 2)
      store.clear(namespace: "n")
      assert_equal [nil, 2], [store.read("a", namespace: "n"), store.read("a")]
    end

    test "clear without a namespace empties all" do
      store.write("a", 1, namespace: "n")
      store.write("b", 2)
      assert_same true, store.clear
      assert_equal 0, store.cache.each_key.count
    end

    test "clear and delete_matched without a namespace reach all, also where a class makes keys of its own" do
      %i[clear delete_matched].each do |method|
        store.write_multi({ "a" => 1, "b" => 2 })
        own = new_store
        own.define_singleton_method(:namespace_key) { |key, options = nil| "own-#{super(key, options)}" }
        own.write("a", 3)
        own.public_send(method, *(/a/ if method == :delete_matched))
        assert_equal [nil, method == :clear ? nil : 2, nil], [store.read("a"), store.read("b"), own.read("a")]
      end
    end
  end
end
