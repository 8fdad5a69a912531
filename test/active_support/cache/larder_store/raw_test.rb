# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # raw: true, which stores value.to_s without a serializer.
  class RawTest < StoreCase
    test "a raw value comes back as text" do
      { 1 => "1", 1.5 => "1.5", :sym => "sym", nil => "", "text" => "text", [1] => "[1]" }.each do |value, text|
        assert_same true, store.write("key", value, raw: true)
        assert_equal text, store.read("key", raw: true)
      end
    end

    test "the file has the bytes of a raw value and nothing else" do
      store.write("key", "grüße", raw: true)
      assert_equal "grüße".b, store.cache.get("key")
    end

    test "raw text is UTF-8, other bytes are binary" do
      store.write("text", "grüße", raw: true)
      store.write("bytes", "\xFF\xFE".b, raw: true)
      assert_equal "grüße", store.read("text", raw: true)
      assert_equal Encoding::UTF_8, store.read("text", raw: true).encoding
      assert_equal "\xFF\xFE".b, store.read("bytes", raw: true)
      assert_equal Encoding::BINARY, store.read("bytes", raw: true).encoding
    end

    test "an empty raw value is a hit" do
      store.write("key", "", raw: true)
      assert_same true, store.exist?("key", raw: true)
      assert_equal("", store.fetch("key", raw: true) { flunk "the block ran" })
    end

    test "raw values are not compressed" do
      store.write("key", "a" * 10_000, raw: true, compress: true)
      assert_equal "a" * 10_000, store.cache.get("key")
    end

    test "raw may be an option of the store" do
      cache = new_store(raw: true)
      cache.write("key", 5)
      assert_equal "5", cache.read("key")
      assert_equal 6, cache.increment("key")
      assert_equal({ "key" => "6" }, cache.read_multi("key"))
    end

    test "versions are not kept with raw values" do
      store.write("key", "v", raw: true, version: 1)
      assert_equal "v", store.read("key", raw: true, version: 2)
    end
  end
end
