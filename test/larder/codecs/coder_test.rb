# frozen_string_literal: true

# Entries in Rails' stores with one of Larder's serializers: what Rails puts around a value is as safe as the value.

require "test_helper"
require "support/marshal_bomb"
require "support/codec_case"
require "active_support/all"
require "active_support/cache/memory_store"

class LarderCoderTest < ActiveSupport::TestCase
  include CodecCase

  SECRET = "sixteen bytes or more"

  setup { @format, ActiveSupport::Cache.format_version = ActiveSupport::Cache.format_version, 7.1 }
  teardown { ActiveSupport::Cache.format_version = @format }

  # Whose bytes anybody may write.
  class SharedStore < ActiveSupport::Cache::MemoryStore
    def stored
      @stored ||= {}
    end

    private

    def read_entry(key, **)
      deserialize_entry(stored[key])
    end

    def write_entry(key, entry, **options)
      stored[key] = serialize_entry(entry, **options)
      true
    end

    def delete_entry(key, **)
      !stored.delete(key).nil?
    end
  end

  def store(name = :json, **options)
    SharedStore.new(coder: Larder::Coder.new(serializer: Larder::Serializers[name, **options]))
  end

  # As Rails' coder makes it. type: 1 an object, 2 a String; version: its bytes
  def entry(payload, type: 1, version: nil)
    ["\x00\x11".b, [type, -1.0, version ? version.bytesize : -1].pack("CEl<"), version.to_s.b, payload.b].join
  end

  test "Rails' own coder is Rails' own, whatever serializer it is given" do
    rails = ActiveSupport::Cache::Coder.new(Larder::Serializers[:json], Zlib)
    assert_instance_of ActiveSupport::Cache::Coder, rails
    assert_equal [1], rails.load(rails.dump(ActiveSupport::Cache::Entry.new([1]))).value
    assert_same Class, ActiveSupport::Cache::Coder.method(:new).owner
  end

  test "Larder's own store has Larder's coder where the serializer is Larder's" do
    { { serializer: :json } => Larder::Coder, { serializer: Larder::Serializers[:json] } => Larder::Coder,
      {} => Larder::Coder, { serializer: Marshal } => ActiveSupport::Cache::Coder }.each do |options, coder|
      cache = ActiveSupport::Cache.lookup_store(:larder_store, "unused.larder", options)
      assert_instance_of coder, cache.instance_variable_get(:@coder)
    end
  end

  test "codecs are named, or made" do
    value = { "a" => "b" * 5000 }
    [[:json, :zstd], ["native", "gzip"], [Larder::Serializers[:json], Larder::Compressors::Lz4.new], [:json, Zlib],
     [:json, nil]].each do |serializer, compressor|
      cache = SharedStore.new(coder: Larder::Coder.new(serializer: serializer, compressor: compressor), compress: true)
      cache.write("key", value)
      assert_equal value, cache.read("key")
      assert_operator cache.stored["key"].bytesize, compressor ? :< : :>, 1000
    end
    plain = Larder::Coder.new
    assert_equal [:a], plain.load(plain.dump(ActiveSupport::Cache::Entry.new([:a]))).value
  end

  test "what is wrong is said" do
    assert_message(/unknown serializer :jsn; did you mean :json/) { Larder::Coder.new(serializer: :jsn) }
    assert_message(/unknown compressor :zst; did you mean :zstd/) { Larder::Coder.new(compressor: :zst) }
    assert_message(/serializer: of Larder::Coder is Marshal; it takes .*:native.* or Larder::Serializers/) do
      Larder::Coder.new(serializer: Marshal)
    end
    assert_message(/compressor: of Larder::Coder is 9; it takes a name \(:gzip, /) { Larder::Coder.new(compressor: 9) }
    assert_message(/give sign_with: a secret/) { Larder::Coder.new(serializer: :marshal) }
  end

  test "a version by Marshal is a miss, and runs nothing, in a store that strangers can write to" do
    MarshalBomb.exploded = false
    planted = entry(Larder::Serializers[:json].dump({ "a" => 1 }), version: Marshal.dump(MarshalBomb.new))
    [store, store(:message_pack), store(sign_with: SECRET)].each do |cache|
      cache.stored["key"] = planted
      assert_nil cache.read("key")
    end
    assert_not MarshalBomb.exploded
  end

  test "versions come back, in any encoding where the store is trusted" do
    cache = store(trusted: true)
    ["v1", "é".encode("ISO-8859-1")].each do |version|
      cache.write("key", { "a" => 1 }, version: version)
      assert_equal({ "a" => 1 }, cache.read("key", version: version))
      assert_nil cache.read("key", version: "another")
    end
  end

  test "what is signed is signed as a whole: values, Strings, expiry and version" do
    cache = store(sign_with: SECRET)
    [{ "a" => 1 }, "text", "bytes \xFF".b, "ascii".encode("US-ASCII"), "long " * 1000].each do |value|
      cache.write("key", value, expires_in: 60, version: "1")
      assert_same_value value, cache.read("key", version: "1"), "signed"
      frame = cache.stored["key"]
      (frame.bytesize.clamp(..300) * 8).times do |bit|
        cache.stored["key"] = frame.dup
        cache.stored["key"].setbyte(bit / 8, frame.getbyte(bit / 8) ^ (1 << (bit % 8)))
        assert_nil cache.read("key", version: "1")
      end
    end
    cache.stored["key"] = entry("planted", type: 2)
    assert_nil cache.read("key")
    cache.stored["key"] = Larder::Serializers[:json, sign_with: SECRET].dump({ "a" => 1 })
    assert_nil cache.read("key")
  end

  test "secrets are rotated: all verify, the first signs" do
    old, both = store(sign_with: SECRET), store(sign_with: ["a newer secret, longer", SECRET])
    old.write("key", { "a" => 1 })
    both.stored["key"] = old.stored["key"]
    assert_equal({ "a" => 1 }, both.read("key"))
    both.write("key", "text")
    old.stored["key"] = both.stored["key"]
    assert_nil old.read("key")
  end

  test "signed Marshal brings back any object" do
    cache = store(:marshal, sign_with: SECRET)
    cache.write("key", [Comparable, 1..2])
    assert_equal [Comparable, 1..2], cache.read("key")
  end

  test "bytes that are no entry are a miss" do
    cache = store(trusted: true)
    [Larder::Serializers[:json].dump({ "a" => 1 }), Marshal.dump({ "a" => 1 }), "text", "", "\xC1".b].each do |bytes|
      cache.stored["key"] = bytes
      assert_nil cache.read("key")
      assert_equal 5, cache.fetch("key") { 5 }
    end
  end

  test "what is no String is a miss, too, as a client with mixed-up answers has it" do
    signing = Larder::Coder.new(serializer: Larder::Serializers[:native, sign_with: "s" * 16])
    [true, 5, nil, { a: 1 }].product([Larder::Coder.new, signing]).each do |found, coder|
      assert_raises(ActiveSupport::Cache::DeserializationError, found.inspect) { coder.load(found) }
    end
  end

  test "entries of Rails' own formats are read: Marshal's where the store is trusted" do
    value = { "a" => "é" }
    entries = %w[marshal_7_1 message_pack].to_h do |name|
      rails = SharedStore.new(serializer: name.to_sym)
      rails.write("key", value)
      [name, rails.stored["key"]]
    end
    old = ActiveSupport::Cache::SerializerWithFallback[:marshal_7_0] # rubocop:disable Naming/VariableNumber
    entries.merge("old" => old.dump(ActiveSupport::Cache::Entry.new(value))).each do |name, bytes|
      cache = store(:message_pack, trusted: true)
      cache.stored["key"] = bytes.dup
      assert_equal value, cache.read("key"), name
      cache.stored["key"] = bytes.dup.force_encoding(Encoding::UTF_8) # as clients of servers give text
      assert_equal value, cache.read("key"), name
      stranger = store(:message_pack)
      stranger.stored["key"] = bytes.dup
      name == "message_pack" ? assert_equal(value, stranger.read("key")) : assert_nil(stranger.read("key"))
    end
  end
end
