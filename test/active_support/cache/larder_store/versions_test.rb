# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # The version beside the key: an entry of another version is a miss.
  class VersionsTest < StoreCase
    Product = Struct.new(:cache_key, :cache_version)

    test "an entry is found under its version and under none" do
      store.write("key", "v", version: 1)
      assert_equal "v", store.read("key", version: 1)
      assert_equal "v", store.read("key", version: "1")
      assert_equal "v", store.read("key")
      assert_nil store.read("key", version: 2)
    end

    test "an entry without a version is found under any" do
      store.write("key", "v")
      assert_equal "v", store.read("key", version: 2)
    end

    test "exist?, fetch and read_multi know versions" do
      store.write("key", "v", version: 1)
      assert_same true, store.exist?("key", version: 1)
      assert_same false, store.exist?("key", version: 2)
      assert_equal "new", store.fetch("key", version: 2) { "new" }
      assert_equal "new", store.read("key", version: 2)
      assert_equal({}, store.read_multi("key", version: 1))
    end

    test "another version does not delete the entry" do
      store.write("key", "v", version: 1)
      assert_nil store.read("key", version: 2)
      assert_equal "v", store.read("key", version: 1)
    end

    test "the cache_version of a model is its version, also inside an array" do
      store.write(Product.new("p/1", 1), "one")
      store.write(["page", Product.new("p/1", 1)], "page one")

      assert_equal "one", store.read(Product.new("p/1", 1))
      assert_nil store.read(Product.new("p/1", 2))
      assert_equal "page one", store.read(["page", Product.new("p/1", 1)])
      assert_nil store.read(["page", Product.new("p/1", 2)])
    end

    test "a version given wins over the model's" do
      store.write(Product.new("p/1", 1), "one", version: 9)
      assert_nil store.read(Product.new("p/1", 1))
      assert_equal "one", store.read(Product.new("p/1", 1), version: 9)
    end

    test "fetch_multi makes anew what has another version" do
      store.write_multi({ Product.new("p/1", 1) => "one", Product.new("p/2", 1) => "two" })
      changed = Product.new("p/2", 2)
      values = store.fetch_multi(Product.new("p/1", 1), changed) { |product| "made #{product.cache_key}" }
      assert_equal ["one", "made p/2"], values.values
      assert_equal "made p/2", store.read(changed)
    end

    test "versions of any text are told apart" do
      ["é", "\xFF".b, "\x04\bx".b, "a" * 300].each do |version|
        store.write("key", version.bytes, version: version)
        assert_equal version.bytes, store.read("key", version: version)
        assert_nil store.read("key", version: "#{version.b}x")
      end
    end
  end
end
