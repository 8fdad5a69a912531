# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # What may be a key: objects, any bytes, any encoding, any length.
  class KeysAndEncodingsTest < StoreCase
    Named = Struct.new(:cache_key)
    Param = Struct.new(:to_param)

    test "names of the same key are the same" do
      store.write("a/1", "v")
      ["a/1", :"a/1", ["a", 1], [:a, "1"], Named.new("a/1"), Param.new("a/1"), [Named.new("a"), 1]].each do |name|
        assert_equal "v", store.read(name), name.inspect
      end
    end

    test "the order of a hash does not matter" do
      store.write({ b: 2, a: 1 }, "v")
      assert_equal "v", store.read({ a: 1, b: 2 })
      assert_equal ["a=1/b=2"], store.cache.each_key.to_a
    end

    test "keys are told apart by case and by every byte" do
      names = ["key", "Key", "key ", "key\n", "key\0", "\0key", "kéy", "ke\u0301y", "1", " "]
      names.each_with_index { |name, i| store.write(name, i) }
      assert_equal names.each_index.to_a, (names.map { |name| store.read(name) })
    end

    test "a blank name is an error" do
      [nil, "", [], {}].each do |name|
        assert_raises(ArgumentError) { store.read(name) }
        assert_raises(ArgumentError) { store.write(name, 1) }
        assert_raises(ArgumentError) { store.delete(name) }
        assert_raises(ArgumentError) { store.fetch(name) { 1 } }
        assert_raises(ArgumentError) { store.increment(name) }
      end
    end

    test "keys of every encoding work, and stay as they are" do
      Encoding.list.reject(&:dummy?).each do |encoding|
        name = "name in #{encoding.name}\xE9\xFC".force_encoding(encoding)
        assert store.write(name, encoding.name)
        assert_equal encoding.name, store.read(name)
        assert_equal({ name => encoding.name }, store.read_multi(name))
        assert_equal 2, store.increment(name, 2, namespace: "n")
        assert_equal 1, store.delete_multi([name])
        assert_equal encoding, name.encoding
      end
    end

    test "the bytes of a key count, not its encoding" do
      store.write("kéy", 1)
      assert_equal 1, store.read("kéy".b)
      assert_equal 1, store.read("k\xC3\xA9y".dup.force_encoding("ISO-8859-1"))
    end

    test "frozen keys are taken and keys are not changed" do
      name = "ключ".encode("UTF-8").freeze
      assert store.write(name, 1)
      assert_equal 1, store.read(name)
      names = ["a", :b].freeze
      store.write_multi({ "a" => 1, b: 2 })
      assert_equal({ "a" => 1, b: 2 }, store.read_multi(*names))
    end

    test "keys longer than the file takes are told apart" do
      long = "k" * 10_000
      store.write(long, 1)
      store.write("#{long}x", 2)
      store.write("é#{long}", 3)
      assert_equal [1, 2, 3, nil], [long, "#{long}x", "é#{long}", "#{long}y"].map { |name| store.read(name) }
      assert_equal({ long => 1 }, store.read_multi(long))
      assert_equal 1, store.increment("#{long}n")
      assert_same true, store.delete(long)
      assert_nil store.read(long)
    end

    test "a namespace that makes the key too long is told apart too" do
      store.write("k" * 4090, 1, namespace: "one")
      store.write("k" * 4090, 2, namespace: "two")
      assert_equal 1, store.read("k" * 4090, namespace: "one")
    end

    test "max_key_size shortens keys to that many bytes" do
      cache = new_store(max_key_size: 100)
      cache.write("k" * 101, 1)
      cache.write("x#{"é" * 200}", 2)
      cache.write("k" * 100, 3)
      assert_equal [1, 2, 3], (["k" * 101, "x#{"é" * 200}", "k" * 100].map { |name| cache.read(name) })
      assert_equal [99, 100, 100], cache.cache.each_key.map(&:bytesize).sort
      assert(cache.cache.each_key.all? { |key| key.dup.force_encoding("UTF-8").valid_encoding? })
      assert_not_includes cache.options, :max_key_size
    end

    test "max_key_size: false leaves keys alone up to what the file takes" do
      cache = new_store(max_key_size: false)
      cache.write("k" * 4095, 1)
      assert_equal ["k" * 4095], cache.cache.each_key.to_a
      cache.write("k" * 4096, 2)
      assert_equal [1, 2], [cache.read("k" * 4095), cache.read("k" * 4096)]
    end

    test "a max_key_size above what the file takes is what the file takes" do
      cache = new_store(max_key_size: 100_000)
      cache.write("k" * 5000, 1)
      assert_equal 1, cache.read("k" * 5000)
    end

    test "without max_key_size the limit is Rails', and the file's where Rails has none" do
      rails = ActiveSupport::Cache::Store
      limit = rails.const_defined?(:MAX_KEY_SIZE) ? rails::MAX_KEY_SIZE : Larder::Cache::MAX_KEY
      store.write("k" * limit, 1)
      assert_equal ["k" * limit], store.cache.each_key.to_a
      store.write("k" * (limit + 1), 1)
      assert_equal [limit, limit], store.cache.each_key.map(&:bytesize)
    end
  end
end
