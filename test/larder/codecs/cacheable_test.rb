# frozen_string_literal: true

# Classes that say how their objects are cached.

require "test_helper"
require "support/codec_case"
require "active_support/all"
require "active_model"

class LarderCacheableTest < ActiveSupport::TestCase
  include CodecCase

  Row = Struct.new(:id, :name, :at) do
    include Larder::Cacheable

    cached_with serializer: :native
  end

  Named = Struct.new(:id, :name, keyword_init: true) do
    include Larder::Cacheable

    cached_with serializer: :json, compressor: :zstd, compress_threshold: 200
  end

  class Book
    include Larder::Cacheable

    FIELDS = { id: :integer, title: :string, price: :decimal, published: :date, read_at: :datetime, sold: :boolean,
               weight: :float }.freeze
    cached_with serializer: :protobuf, fields: FIELDS

    attr_accessor(*FIELDS.keys)

    def initialize(**values)
      values.each { |name, value| public_send(:"#{name}=", value) }
    end

    def ==(other)
      other.instance_of?(self.class) && FIELDS.keys.all? { |name| public_send(name) == other.public_send(name) }
    end
  end

  class AudioBook < Book
  end

  class Model
    include ActiveModel::Model
    include ActiveModel::Attributes
    include Larder::Cacheable

    attribute :id, :integer
    attribute :name, :string
    cached_with serializer: :xml

    def ==(other)
      other.instance_of?(Model) && attributes == other.attributes
    end
  end

  BOOK = Book.new(id: -7, title: "é", price: BigDecimal("12.50"), published: Date.new(2026, 1, 2),
                  read_at: Time.utc(2026, 1, 2, 3, 4, 5.25r), sold: false, weight: nil)
  AUDIO = AudioBook.new(id: 8, title: "read aloud")
  OBJECTS = [Row.new(1, "a", Time.at(0)), Named.new(id: 2, name: "b"), BOOK, AUDIO, Model.new(id: 3, name: "c")].freeze

  def codec(name = :json, **options)
    Larder::Serializers[name, **options]
  end

  test "an object, a list and a hash of them come back, whatever serializer the store has" do
    OBJECTS.each do |object|
      [object, [object, object], { "key" => object, 2 => object }].each do |value|
        copy = codec(:native).load(codec(:json).dump(value))
        assert_equal value, copy
        assert_equal value.class, copy.class
      end
    end
  end

  test "the bytes name the class and the serializer" do
    assert_equal 8, Larder::Codecs::Frame.open_value(codec.dump(BOOK)).first
    assert_includes codec.dump(BOOK), "LarderCacheableTest::Book"
    assert_includes codec.dump(Named.new(id: 1, name: "x")), '[{"id":1,"name":"x"}]'
    assert_operator codec.dump([BOOK] * 100).bytesize, :<, 6000
  end

  test "what is as long as the threshold is compressed" do
    short, long = [3, 50].map { |count| Array.new(count) { |i| Named.new(id: i, name: "name") } }
    assert_includes codec.dump(short), '"name":"name"'
    assert_not_includes codec.dump(long), '"name":"name"'
    assert_equal long, codec.load(codec.dump(long))
  end

  test "a subclass inherits, and objects of both come back as what they were" do
    assert_same Book.cache_declaration, AudioBook.cache_declaration
    assert_equal [BOOK, AUDIO, BOOK], codec.load(codec.dump([BOOK, AUDIO, BOOK]))
  end

  test "empty lists and hashes are nobody's" do
    assert_equal [[], {}], [codec.load(codec.dump([])), codec.load(codec.dump({}))]
  end

  test "another declaration reads what was written under the one before" do
    with_declaration(Named, serializer: :json) do
      frame = codec.dump([Named.new(id: 1, name: "x")])
      %i[message_pack xml native].each do |serializer|
        Named.cached_with serializer: serializer, compressor: :lz4, compress_threshold: 0
        assert_equal [Named.new(id: 1, name: "x")], codec.load(frame)
        frame = codec.dump([Named.new(id: 1, name: "x")])
      end
    end
  end

  test "another version does not" do
    with_declaration(Named, serializer: :json) do
      frame = codec.dump(Named.new(id: 1))
      Named.cached_with serializer: :json, schema_version: 2
      error = assert_unreadable { codec.load(frame) }
      assert_match(/another schema_version \(1 of .*Named, and now it is 2\)/, error.message)
    end
  end

  test "fields that came or went leave the others" do
    with_declaration(Book, serializer: :json, fields: { id: :integer, title: :string }) do
      frame = codec.dump(BOOK)
      Book.cached_with serializer: :json, fields: { id: :integer, weight: :float }
      assert_equal [-7, nil, nil], codec.load(frame).then { |book| [book.id, book.title, book.weight] }
    end
  end

  test "rows by Marshal are read where they are trusted or signed, only" do
    with_declaration(Named, serializer: :marshal) do
      frame = codec(trusted: true).dump(Named.new(id: 1))
      assert_unreadable { codec.load(frame) }
      assert_equal 1, codec(trusted: true).load(frame).id
      error = assert_raises(Larder::UnserializableError) { codec.dump(Named.new(id: 1)) }
      assert_match(/Named writes by :marshal, .*give its serializer sign_with:.* trusted: true/, error.message)
      signing = codec(sign_with: "sixteen bytes or more")
      assert_equal 1, signing.load(signing.dump(Named.new(id: 1))).id
    end
  end

  test "only classes that declare something are made, whatever the bytes say" do
    ["Object", "LarderCacheableTest", "Kernel", "No::Such", "String", "lower", "", "A::",
     "LarderCacheableTest::Gone"].each do |name|
      payload = "\0\1\1".b << name.bytesize << name << "\1\0\0\0\2\0[{}]"
      assert_unreadable { codec.load(Larder::Codecs::Frame.value(8, payload)) }
    end
  end

  test "damaged bytes are unreadable" do
    [[BOOK, AUDIO] * 3, { a: [BOOK, nil, Named.new(id: 1)] }].each do |value|
      frame = codec(checksum: false).dump(value)
      assert_equal value, codec(checksum: false).load(frame)
      random = Random.new(5)
      500.times do
        damaged = frame.dup
        damaged.setbyte(1 + random.rand(frame.bytesize - 1), random.rand(256))
        begin
          codec(checksum: false).load(damaged)
        rescue ActiveSupport::Cache::DeserializationError => error
          assert_predicate error.message, :present?
        end
      end
      frame.bytesize.times { |bytes| assert_unreadable { codec(checksum: false).load(frame.byteslice(0, bytes)) } }
    end
  end

  test "rows of an entry are not decompressed beyond what all of it may have" do
    with_declaration(Named, serializer: :json, compressor: :zstd, compress_threshold: 0) do
      value = Array.new(6) { |i| [[Named.new(id: i, name: "x" * 1000)], nil] }
      frame = codec.dump(value)
      assert_equal value, codec(max_bytes: 8000).load(frame)
      assert_match(/too large/, assert_unreadable { codec(max_bytes: 5000).load(frame) }.message)
    end
  end

  class ModelWithWays
    include ActiveModel::Attributes
    include ActiveModel::Dirty
    include Larder::Cacheable

    attribute :name, :string
    attribute :count, :integer, default: 7
    cached_with serializer: :json

    def initialize(name)
      super()
      self.name = name
    end

    def name=(value)
      super(value.reverse)
    end
  end

  test "an ActiveModel comes back without its constructor and setters" do
    copy = codec.load(codec.dump(ModelWithWays.new("abc")))
    assert_equal({ "name" => "cba", "count" => 7 }, copy.attributes)
    assert_not copy.changed?
    copy.name = "xyz"
    assert_equal %w[name], copy.changed
  end

  test "fields that are not declared are not set, whatever the bytes hold" do
    with_declaration(Book, serializer: :json, fields: %i[id title]) do
      frame = codec(:json, checksum: false).dump(Book.new(id: 1, title: "admin"))
      Book.cached_with serializer: :json, fields: %i[id]
      assert_equal [:@id], codec(checksum: false).load(frame).instance_variables
    end
    with_declaration(Row, serializer: :json, fields: %i[id name]) do
      frame = codec.dump(Row.new(1, "a"))
      Row.cached_with serializer: :json, fields: %i[id at]
      assert_equal Row.new(1, nil), codec.load(frame)
    end
  end

  class Aside
    def self.cache_declaration(_name) = :write_through
  end

  class Beside < Aside
    include Larder::Cacheable
  end

  module Through
    include Larder::Cacheable
  end

  class Within
    include Through
  end

  test "a cache_declaration that is none of these is left alone" do
    marshal = codec(:marshal, trusted: true)
    [Aside, Beside, Within].each do |type|
      assert_nil Larder::Cacheable.of(type.new)
      assert_instance_of type, marshal.load(marshal.dump(type.new))
    end
  end

  test "a class that names its fields and no serializer is kept by native, whatever the store's serializer" do
    type = Struct.new(:id, :at, :secret) { include Larder::Cacheable }
    self.class.const_set(:Brief, type)
    declaration = type.cached_with(fields: %i[id at])
    assert_equal :native, declaration.serializer
    value = type.new(1, Time.at(0, 7, :nsec).utc, "hidden")
    %i[native json message_pack].each do |name|
      codec = serializer(name)
      bytes = codec.dump([value, 1])
      assert_not_includes bytes, "hidden"
      assert_equal [type.new(1, value.at, nil), 1], codec.load(bytes)
    end
  end

  test "what is wrong in a declaration is said" do
    type = Class.new { include Larder::Cacheable }
    assert_message(/unknown serializer :yml/) { type.cached_with serializer: :yml }
    assert_message(/unknown compressor :zip/) { type.cached_with serializer: :json, compressor: :zip }
    assert_message(/schema: of .* takes a message class/) { type.cached_with serializer: :protobuf, schema: String }
    assert_message(/compress_threshold: of .* is -1/) { type.cached_with serializer: :json, compress_threshold: -1 }
    assert_message(/needs schema: a message class, or fields:/) { type.cached_with serializer: :protobuf }
    assert_message(/cached_with of .* has no option :level; it takes :serializer, .*_options: \{ level: 3 \}/) do
      type.cached_with serializer: :json, level: 3
    end
    assert_message(/compressor :zstd of .* has no option :levle; it takes :level/) do
      type.cached_with serializer: :json, compressor: :zstd, compressor_options: { levle: 3 }
    end
    assert_message(/level: of compressor :zstd is 99/) do
      type.cached_with serializer: :json, compressor: :zstd, compressor_options: { level: 99 }
    end
    assert_message(/compressor_options: and no compressor:/) do
      type.cached_with serializer: :json, compressor_options: { level: 1 }
    end
    assert_message(/serializer :json of .* has no option :deep/) do
      type.cached_with serializer: :json, serializer_options: { deep: 1 }
    end
    assert_message(/fields: of .* is :id; it takes names/) { type.cached_with serializer: :json, fields: :id }
    assert_message(/what is in Array is no field/) do
      Class.new(Array) { include Larder::Cacheable }.cached_with serializer: :json
    end
    assert_raises(Larder::UnserializableError) { codec.dump(type.tap { |t| t.cached_with serializer: :json }.new) }
  end

  private

  def with_declaration(type, **options)
    before = type.cache_declaration
    type.cached_with(**options)
    yield
  ensure
    type.instance_variable_set(:@cache_declaration, before)
  end
end
