# frozen_string_literal: true

# Trained dictionaries, and those that processes share through a cache.

require "test_helper"
require "support/codec_case"
require "active_support/cache/memory_store"
require "larder/codecs/dictionary"
require "larder/codecs/dictionaries"
require "json"

class LarderDictionaryTest < ActiveSupport::TestCase
  include CodecCase

  RANDOM = Random.new(11)
  SAMPLES = Array.new(1200) do |i|
    { id: i, sku: "SKU-#{RANDOM.rand(10**8)}",
      name: "#{%w[Pear Apple Plum].sample(random: RANDOM)} jam #{RANDOM.rand(900)} g",
      price: { amount: RANDOM.rand(1000) / 100.0, currency: "EUR" }, in_stock: RANDOM.rand < 0.5,
      category: %w[food jam],
      url: "https://shop.example/products/#{i}", vendor: { name: "Acme", country: "DE" },
      updated_at: "2026-11-#{10 + RANDOM.rand(18)}T12:00:00Z", note: nil }.to_json
  end.freeze
  TRAINED_ON = SAMPLES.first(800).freeze
  NEW = SAMPLES.drop(800).freeze

  def dictionary
    @dictionary ||= Larder::Dictionary.train(TRAINED_ON)
  end

  test "small similar values become a third and less, where Zstandard alone saves little" do
    alone, trained = [Larder::Compressors.lookup(:zstd),
                      Larder::Compressors.lookup(:zstd, dictionary: dictionary)].map do |compressor|
      NEW.sum(&:bytesize).fdiv(NEW.sum { |json| compressor.deflate(json).bytesize })
    end
    assert_operator alone, :<, 1.6
    assert_operator trained, :>=, 3
  end

  test "what was compressed with a dictionary comes back, long values too" do
    compressor = Larder::Compressors.lookup(:zstd, dictionary: dictionary)
    [*NEW, NEW.join, "", "x"].each { |text| assert_equal text.b, compressor.inflate(compressor.deflate(text)) }
    plain = Larder::Compressors.lookup(:zstd)
    assert_equal NEW[0].b, compressor.inflate(plain.deflate(NEW[0]))
    assert_unreadable { plain.inflate(compressor.deflate(NEW[0])) }
  end

  test "a dictionary is its bytes" do
    copy = Larder::Dictionary.new(dictionary.bytes)
    assert_equal dictionary.id, copy.id
    frame = Larder::Compressors.lookup(:zstd, dictionary: dictionary).deflate(NEW[0])
    assert_equal NEW[0], Larder::Compressors.lookup(:zstd, dictionary: copy).inflate(frame)
  end

  test "what is wrong is said" do
    assert_message(/2 samples are too few to train a dictionary/) { Larder::Dictionary.train(%w[a b]) }
    assert_message(/size: of Larder::Dictionary.train is 1/) { Larder::Dictionary.train(TRAINED_ON, size: 1) }
    assert_message(/no dictionary of Zstandard/) { Larder::Dictionary.new("bytes") }
    assert_message(/dictionary: of compressor :zstd is String/) do
      Larder::Compressors.lookup(:zstd, dictionary: "bytes")
    end
    assert_message(/takes a block that answers the cache/) { Larder::Dictionaries.new("a") }
    assert_raises(TypeError) { Larder::Dictionary.train([1] * 20) }
  end

  test "processes share one through a cache, and replace it without breaking what it compressed" do
    [ActiveSupport::Cache::MemoryStore.new, byte_cache].each do |cache|
      writer, reader = Array.new(2) { Larder::Dictionaries.new("products", refresh: 0) { cache } }
      assert_nil writer.current
      first = writer.train(TRAINED_ON)
      old = zstd(writer).deflate(NEW[0])
      assert_equal NEW[0], zstd(reader).inflate(old)
      second = writer.train(TRAINED_ON.last(400), size: 4096)
      assert_not_equal first.id, second.id
      new = zstd(writer).deflate(NEW[1])
      assert_equal [NEW[0], NEW[1]], [zstd(reader).inflate(old), zstd(reader).inflate(new)]
      assert_equal second.id, reader.current.id
    end
  end

  test "what the cache forgot is stored again by who has it, and unreadable to others until then" do
    cache = ActiveSupport::Cache::MemoryStore.new
    writer = Larder::Dictionaries.new("products", refresh: 0) { cache }
    writer.train(TRAINED_ON)
    frame = zstd(writer).deflate(NEW[0])
    cache.clear
    assert_unreadable { zstd(Larder::Dictionaries.new("products", refresh: 0) { cache }).inflate(frame) }
    assert_equal NEW[0], zstd(writer).inflate(frame)
    zstd(writer).deflate(NEW[1])
    assert_equal NEW[0], zstd(Larder::Dictionaries.new("products", refresh: 0) { cache }).inflate(frame)
  end

  # Of what processes have in common: a key's bytes as they are, or planted.
  class Shelf
    attr_reader :entries

    def initialize = @entries = {}
    def get(key) = @entries[key]

    def set(key, bytes)
      @entries[key] = bytes
    end
  end

  test "a dictionary that is damaged, foreign or unsigned is none, and breaks no write" do
    id = dictionary.id
    planted = { "junk" => "junk", "no text" => 5, "a dictionary without a frame" => dictionary.bytes,
                "another value's frame" => Larder::Codecs::Frame.value(2, dictionary.bytes),
                "no dictionary" => Larder::Codecs::Frame.value(0x3E, "junk"),
                "half of one" => Larder::Codecs::Frame.value(0x3E, dictionary.bytes[0, 60]) }
    planted.each do |what, bytes|
      shelf = Shelf.new
      Larder::Dictionaries.new("jams") { shelf }.use(dictionary)
      shelf.entries["larder:dictionary:jams:#{id}"] = bytes
      compressor = Larder::Compressors.lookup(:zstd, dictionary: Larder::Dictionaries.new("jams") { shelf })
      assert_equal NEW.first, compressor.inflate(compressor.deflate(NEW.first)), what
    end
  end

  test "nothing is read that was not signed" do
    shelf = Shelf.new
    signed = -> { Larder::Dictionaries.new("jams", sign_with: "sixteen bytes or more") { shelf } }
    Larder::Dictionaries.new("jams") { shelf }.use(dictionary)
    assert_nil signed.call.current
    signed.call.use(dictionary)
    assert_equal dictionary.id, signed.call.current.id
  end

  test "bytes that the cache forgot are stored again by who compresses with them" do
    shelf = Shelf.new
    used = Larder::Dictionaries.new("jams", refresh: 0) { shelf }
    used.use(dictionary)
    shelf.entries.delete("larder:dictionary:jams:#{dictionary.id}")
    frame = Larder::Compressors.lookup(:zstd, dictionary: used).deflate(NEW.first)
    another = Larder::Compressors.lookup(:zstd, dictionary: Larder::Dictionaries.new("jams") { shelf })
    assert_equal NEW.first, another.inflate(frame)
  end

  test "a store may keep the dictionary of its own compressor" do
    store = nil
    dictionaries = Larder::Dictionaries.new("own") { store }
    store = ActiveSupport::Cache.lookup_store(:file_store, directory, compress_threshold: 10,
                                                                     serializer: Larder::Serializers[:native],
                                                                     compressor: zstd(dictionaries))
    dictionaries.train(TRAINED_ON)
    store.write("key", NEW[0])
    assert_equal NEW[0], store.read("key")
  end

  include TemporaryDirectory

  private

  def zstd(dictionaries)
    Larder::Compressors.lookup(:zstd, dictionary: dictionaries)
  end

  def byte_cache
    Larder::Cache.open(path_of("bytes.larder"), size: 4 << 20)
  end
end
