# frozen_string_literal: true

# Every serializer with every compressor in every store of Rails, on real servers: awkward values come back.

require "test_helper"
require "support/codec_case"
require "support/codec_values"
require "support/servers"

class LarderCodecsCellsTest < ActiveSupport::TestCase
  include CodecCase
  include TemporaryDirectory

  STORES = {
    memory: ->(_, options) { [:memory_store, options] },
    file: ->(test, options) { [:file_store, test.path_of("files"), options] },
    larder: ->(test, options) { [:larder_store, test.path_of("cells.larder"), { size: 16 << 20, **options }] },
    redis: ->(test, options) { [:redis_cache_store, { url: test.endpoint("redis")["url"], **options }] },
    memcached: lambda do |test, options|
      [:mem_cache_store, test.endpoint("memcached")["url"], { protocol: :meta, **options }]
    end
  }.freeze
  VALUES = CodecValues::BRINGS_BACK.merge(protobuf: CodecValues::MESSAGES).freeze

  setup { @format, ActiveSupport::Cache.format_version = ActiveSupport::Cache.format_version, 7.1 }
  teardown { ActiveSupport::Cache.format_version = @format }

  def endpoint(name)
    TestServers.endpoint(name) || skip("#{name} is not installed")
  end

  public :path_of

  STORES.each_key do |kind|
    test "all values come back from #{kind}, by every serializer and compressor" do
      VALUES.each_key do |name|
        each_compressor_here { |compressor| assert_cell(kind, name, compressor) }
      end
    end
  end

  test "an entry outlives a change of serializer and compressor" do
    STORES.each_key do |kind|
      next if %i[redis memcached].include?(kind) && TestServers.endpoint(kind.to_s).nil?

      write = store(kind, :json, :zstd)
      write.write("key", { "a" => "b" * 5000 })
      assert_equal({ "a" => "b" * 5000 }, store(kind, :message_pack, :lz4, on: write).read("key"), kind)
    end
  end

  test "what cannot be read is a miss in every store" do
    STORES.each_key do |kind|
      next if %i[redis memcached].include?(kind) && TestServers.endpoint(kind.to_s).nil?

      signing = store(kind, :json, :gzip, sign_with: "sixteen bytes or more")
      signing.write("key", ["text" * 1000])
      reading = store(kind, :json, :gzip, sign_with: "other sixteen bytes", on: signing)
      assert_nil reading.read("key"), kind
      assert_equal({}, reading.read_multi("key"))
      assert_equal 1, reading.fetch("key") { 1 }
    end
  end

  private

  # @param on [ActiveSupport::Cache::Store, nil] a memory store's content is its own
  def store(kind, serializer_name, compressor, on: nil, **options)
    coder = Larder::Coder.new(serializer: serializer(serializer_name, **options), compressor: compressor)
    given = { coder: coder, compress: true, compress_threshold: 64 }
    made = ActiveSupport::Cache.lookup_store(*STORES.fetch(kind).call(self, given))
    made.instance_variable_set(:@data, on.instance_variable_get(:@data)) if kind == :memory && on
    made
  end

  def assert_cell(kind, name, compressor)
    cache = store(kind, name, compressor)
    where = "#{name} and #{compressor} in #{kind}"
    VALUES.fetch(name).each_with_index do |value, i|
      assert cache.write("key#{i}", value), where
      assert_same_value value, cache.read("key#{i}"), name
    end
    long = VALUES.fetch(name).last
    assert_same_value long, cache.fetch("new") { long }, name
    assert_same_value long, cache.fetch("new") { flunk where }, name
    assert_equal %w[key0 key1], cache.read_multi("key0", "key1").keys, where
  ensure
    cache&.clear
  end
end
