# frozen_string_literal: true

require "support/store_case"
require "active_support/message_pack"
require "json"

module LarderStoreTests
  # compress, compress_threshold, compressor, serializer, coder, and Rails' formats of entries.
  class CompressionAndCodecsTest < StoreCase
    LARGE = "0" * 5000

    # A compressor that others can be told from.
    module Reversing
      def self.deflate(bytes)
        "R#{Zlib.deflate(bytes)}"
      end

      def self.inflate(bytes)
        Zlib.inflate(bytes.delete_prefix("R"))
      end
    end

    # A coder as Rails' documentation describes one, without compression.
    module PlainCoder
      def self.dump(entry)
        Marshal.dump([entry.value, entry.expires_at, entry.version])
      end

      def self.load(bytes)
        value, expires_at, version = Marshal.load(bytes)
        ActiveSupport::Cache::Entry.new(value, expires_at: expires_at, version: version)
      end
    end

    def stored_bytes(cache, value, **options)
      cache.write("key", value, **options)
      cache.cache.get("key").bytesize
    end

    test "nothing is compressed by default" do
      assert_operator stored_bytes(store, LARGE), :>=, 5000
      assert_same false, store.options[:compress]
    end

    test "compress: true compresses what is larger than the threshold" do
      cache = new_store(compress: true)
      assert_operator stored_bytes(cache, LARGE), :<, 200
      assert_equal LARGE, cache.read("key")
      assert_operator stored_bytes(cache, { text: LARGE }), :<, 200
      assert_equal({ text: LARGE }, cache.read("key"))
      assert_operator stored_bytes(cache, "0" * 1000), :>=, 1000
    end

    test "compress and compress_threshold may be given to a call" do
      assert_operator stored_bytes(store, LARGE, compress: true), :<, 200
      assert_operator stored_bytes(store, "0" * 900, compress: true, compress_threshold: 100), :<, 200
      assert_operator stored_bytes(store, LARGE, compress: true, compress_threshold: 1.megabyte), :>=, 5000
      assert_operator stored_bytes(new_store(compress: true), LARGE, compress: false), :>=, 5000
    end

    test "a threshold of the store alone turns compression on" do
      cache = new_store(compress_threshold: 100)
      assert_operator stored_bytes(cache, "0" * 900), :<, 200
      assert_operator stored_bytes(new_store(compress_threshold: 100, compress: false), "0" * 900), :>=, 900
    end

    test "what does not become smaller is stored as it is" do
      noise = Random.new(1).bytes(5000)
      assert_equal stored_bytes(store, noise), stored_bytes(store, noise, compress: true)
      assert_equal noise, store.read("key")
    end

    test "write_multi compresses too" do
      store.write_multi({ "key" => LARGE }, compress: true)
      assert_operator store.cache.get("key").bytesize, :<, 200
      assert_equal({ "key" => LARGE }, store.read_multi("key"))
    end

    test "a compressor of one's own is used" do
      cache = new_store(compress: true, compressor: Reversing)
      cache.write("key", LARGE)
      assert_includes cache.cache.get("key"), "R\x78".b
      assert_equal LARGE, cache.read("key")
    end

    test "compressor: nil compresses nothing" do
      assert_operator stored_bytes(new_store(compress: true, compressor: nil), LARGE), :>=, 5000
    end

    test "a serializer of one's own is used" do
      cache = new_store(serializer: JSON)
      cache.write("key", { "a" => [1, nil] })
      assert_includes cache.cache.get("key"), %({"a":[1,null]})
      assert_equal({ "a" => [1, nil] }, cache.read("key"))
    end

    test "lists and hashes are compressed as Larder's own bytes" do
      rows = Array.new(2000) { |i| { "id" => i * 7, "name" => "a name" } }
      cache = new_store(compress: true)
      cache.write("key", rows)
      assert_equal rows, store.read("key")
      assert_operator store.cache.get("key").bytesize, :<, Zlib.deflate(Marshal.dump(rows)).bytesize
    end

    test "serializers and compressors go by their names, and each reads what the others wrote" do
      values = { "json" => { "a" => [1] }, "message_pack" => [:a, 1r], "xml" => ["b"], "native" => [2**70],
                 "marshal" => Comparable }
      values.each do |serializer, value|
        cache = new_store(serializer: serializer.to_sym, compressor: :zstd, compress_threshold: 10)
        assert cache.write(serializer, value)
        assert cache.write("large #{serializer}", [value.to_s] * 500)
      end
      values.each_key do |name|
        cache = new_store(serializer: name, compressor: "lz4", compress: true)
        assert_equal values, cache.read_multi(*values.keys)
        values.each { |serializer, value| assert_equal [value.to_s] * 500, cache.read("large #{serializer}") }
      end
    end

    test "an unknown name is an error that tells the others" do
      { serializer: /unknown serializer :zip.*known: :marshal/, compressor: /unknown compressor :zip/ }
        .each do |option, message|
          assert_match message, assert_raises(ArgumentError) { new_store(option => :zip) }.message
        end
    end

    test "serializer: :message_pack reads what it and Marshal wrote" do
      store.write("marshalled", [:a, 1])
      cache = new_store(serializer: :message_pack)
      cache.write("packed", [:a, 1])
      assert_equal({ "marshalled" => [:a, 1], "packed" => [:a, 1] }, cache.read_multi("marshalled", "packed"))
    end

    test "a coder of one's own is used for all that Rails keeps with a value" do
      cache = new_store(coder: PlainCoder, compress: true)
      cache.write("key", LARGE, expires_in: 60, version: 2)
      assert_equal PlainCoder.load(cache.cache.get("key")).version, "2"
      assert_equal LARGE, cache.read("key", version: 2)
      assert_nil cache.read("key", version: 3)
      travel(61.seconds) { assert_nil cache.read("key") }
    end

    # A coder that leaves compressed entries to themselves, which load their value when it is asked for.
    module LazyCoder
      def self.dump(entry)
        Marshal.dump(entry.compressed(0))
      end

      def self.load(bytes)
        Marshal.load(bytes)
      end
    end

    test "a value whose class is gone is a miss, also where its coder notices late" do
      cache = new_store(coder: LazyCoder)
      self.class.const_set(:Leaving, Struct.new(:text))
      cache.write("key", self.class::Leaving.new(LARGE))
      self.class.send(:remove_const, :Leaving)

      assert_nil cache.read("key")
      assert_equal({}, cache.read_multi("key"))
      assert_equal "new", cache.fetch("key") { "new" }
    end

    # A coder that leaves entries as they are.
    module AsIs
      def self.dump(entry) = entry
      def self.load(entry) = entry
    end

    test "a coder that makes no bytes is refused where it would need to store an object" do
      error = assert_raises(TypeError) { new_store(coder: AsIs).write("key", "v") }
      assert_match(/coder of LarderStore must dump to a String/, error.message)
    end

    test "a coder excludes a serializer and a compressor" do
      assert_raises(ArgumentError) { new_store(coder: Marshal, serializer: Marshal) }
      assert_raises(ArgumentError) { new_store(coder: Marshal, compressor: Zlib) }
    end

    test "each cache format version of Rails reads the other's entries" do
      [7.0, 7.1].permutation.each do |written, read|
        with_format(written) { new_store.write("key", { v: LARGE }, compress: true, version: 1) }
        with_format(read) { assert_equal({ v: LARGE }, new_store.read("key", version: 1)) }
      end
    end

    test "the cache format version decides nothing, and is left as it was" do
      [7.0, 7.1].each do |version|
        with_format(version) do
          new_store.write("key", Set[1, Object])
          assert store.cache.get("key").start_with?("\x00\x11\x01".b)
          assert_equal version, ActiveSupport::Cache.format_version
        end
      end
    end

    test "what Rails' own coders wrote is read" do
      entry = ActiveSupport::Cache::Entry.new({ v: LARGE }, version: "1")
      %w[marshal_7_1 message_pack].map(&:to_sym).each do |name|
        coder = ActiveSupport::Cache::Coder.new(ActiveSupport::Cache::SerializerWithFallback[name], Zlib)
        store.cache.set("key", coder.dump_compressed(entry, 100))
        assert_equal({ v: LARGE }, store.read("key", version: 1))
      end
      legacy = ActiveSupport::Cache::SerializerWithFallback[:marshal_7_0] # rubocop:disable Naming/VariableNumber
      [legacy.dump(entry), legacy.dump_compressed(entry, 100)].each do |bytes|
        store.cache.set("key", bytes)
        assert_equal({ v: LARGE }, store.read("key", version: 1))
      end
    end

    private

    def with_format(version, &block)
      ActiveSupport::Cache.with(format_version: version, &block)
    end
  end
end
