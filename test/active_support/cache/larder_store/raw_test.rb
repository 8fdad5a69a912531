# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # raw: true, which changes nothing, as in MemoryStore and FileStore; see also same_as_rails_stores_test.rb.
  class RawTest < StoreCase
    test "the file has the bytes of a text and nothing else, raw or not" do
      [{}, { raw: true }].each do |options|
        store.write("key", "grüße", options)
        assert_equal "grüße".b, store.cache.get("key")
      end
    end

    test "an empty raw value is a hit" do
      store.write("key", "", raw: true)
      assert_same true, store.exist?("key", raw: true)
      assert_equal("", store.fetch("key", raw: true) { flunk "the block ran" })
    end

    test "raw values are compressed as others are" do
      store.write("key", "a" * 10_000, raw: true, compress: true)
      assert_operator store.cache.get("key").bytesize, :<, 200
      assert_equal "a" * 10_000, store.read("key", raw: true)
    end

    test "raw may be an option of the store" do
      cache = new_store(raw: true)
      cache.write("key", 5)
      assert_equal 5, cache.read("key")
      assert_equal 6, cache.increment("key")
      assert_equal({ "key" => 6 }, cache.read_multi("key"))
    end

    test "raw values keep their version" do
      store.write("key", "v", raw: true, version: 1)
      assert_nil store.read("key", raw: true, version: 2)
      assert_equal "v", store.read("key", raw: true, version: 1)
    end
  end
end
