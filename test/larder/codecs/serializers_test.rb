# frozen_string_literal: true

# Every serializer: what it brings back, what it refuses to store, and what it does not read.

require "test_helper"
require "support/marshal_bomb"
require "support/codec_case"
require "support/codec_values"
require "support/reported_errors"
require "active_support/message_pack"

class LarderSerializersTest < ActiveSupport::TestCase
  include CodecCase
  include ReportedErrors

  SECRET = "sixteen bytes or more"
  Gone = Class.new

  BRINGS_BACK = CodecValues::BRINGS_BACK
  REFUSES = CodecValues::REFUSES

  BRINGS_BACK.each do |name, values|
    test "#{name} brings back what it stores" do
      values.each do |value|
        copy = serializer(name).load(serializer(name).dump(value))
        assert_same_value value, copy, name
      end
    end

    test "#{name} reads no damaged bytes" do
      frame = serializer(name).dump([{ "id" => 1, "name" => "Pear" }] * 5)
      (frame.bytesize * 8).times do |bit|
        damaged = frame.dup
        damaged.setbyte(bit / 8, damaged.getbyte(bit / 8) ^ (1 << (bit % 8)))
        assert_unreadable { serializer(name).load(damaged) }
      end
      frame.bytesize.times { |bytes| assert_unreadable { serializer(name).load(frame.byteslice(0, bytes)) } }
    end

    test "#{name} signs, and reads nothing that it did not sign" do
      signing = serializer(name, sign_with: SECRET)
      frame = signing.dump(["value"])
      assert_equal ["value"], signing.load(frame)
      assert_equal ["value"], serializer(name, sign_with: ["a newer secret, longer", SECRET]).load(frame)
      assert_unreadable { serializer(name, sign_with: "another secret of some bytes").load(frame) }
      assert_unreadable { signing.load(serializer(name).dump(["value"])) }
      assert_unreadable { serializer(:json).load(frame) }
      assert_unreadable { signing.load(Marshal.dump(["value"])) }
    end
  end

  # Marshal makes of bytes what they say.
  (BRINGS_BACK.keys - [:marshal]).each do |name|
    test "#{name} makes nothing bad of damaged bytes without a checksum" do
      plain = serializer(name, checksum: false)
      frame = plain.dump([{ "id" => 1, "name" => "Pear" }] * 5)
      random = Random.new(4)
      500.times do
        damaged = frame.dup
        random.rand(1..3).times { damaged.setbyte(2 + random.rand(frame.bytesize - 2), random.rand(256)) }
        begin
          plain.load(damaged)
        rescue ActiveSupport::Cache::DeserializationError => error
          assert_predicate error.message, :present?
        end
      end
    end
  end

  REFUSES.each do |name, values|
    test "#{name} stores nothing that would come back as something else" do
      values.each do |value|
        error = assert_raises(Larder::UnserializableError, value.inspect) { serializer(name).dump(value) }
        assert_match(/#{name}/, error.message)
        assert_match(/:marshal/, error.message)
      end
    end
  end

  test "each reads what the others wrote" do
    value = [{ "id" => 1, "list" => [nil, true, 2.5, "text"] }]
    BRINGS_BACK.keys.product(BRINGS_BACK.keys) do |reader, writer|
      read = serializer(reader, trusted: true).load(serializer(writer).dump(value))
      assert_equal value, read, "#{reader} of #{writer}"
    end
  end

  test "each reads what Rails' own wrote; Marshal's only where it is trusted" do
    value = { "a" => [1] }
    packed = ActiveSupport::MessagePack::CacheSerializer.dump(value)
    BRINGS_BACK.each_key do |name|
      assert_equal value, serializer(name, reads: :message_pack).load(packed)
      assert_equal value, serializer(name, trusted: true).load(Marshal.dump(value))
      assert_unreadable { serializer(name).load(Marshal.dump(value)) } unless name == :marshal
    end
  end

  test "plain data of any serializer is read, objects only by those that were chosen" do
    frames = BRINGS_BACK.keys.to_h { |name| [name, serializer(name).dump(["a"])] }
    %i[json xml active_support_json].each { |name| assert_equal ["a"], Larder::Serializers[:json].load(frames[name]) }
    %i[native message_pack].each do |name|
      assert_unreadable { Larder::Serializers[:json].load(frames[name]) }
      assert_equal ["a"], Larder::Serializers[:json, reads: name].load(frames[name])
      assert_equal ["a"], Larder::Serializers[:json, trusted: true].load(frames[name])
      assert_equal ["a"], Larder::Serializers[name].load(frames[name])
    end
    assert_unreadable { Larder::Serializers[:json, reads: :marshal].load(frames[:marshal]) }
  end

  class Packed
    class << self
      attr_accessor :made

      def from_msgpack_ext(_) = self.made = true
    end

    def to_msgpack_ext = "x"
  end

  test "MessagePack makes objects of the application's classes only where it is trusted" do
    Packed.made = false
    trusted = serializer(:message_pack, trusted: true)
    frame = trusted.dump(Packed.new)
    assert_unreadable { Larder::Serializers[:message_pack].load(frame) }
    assert_raises(Larder::UnserializableError) { Larder::Serializers[:message_pack].dump(Packed.new) }
    assert_not Packed.made
    assert trusted.load(frame)
  end

  autoload :NeverLoaded, "larder/no_such_file"

  test "no file is loaded for the bytes of strangers, and one that is missing is a miss" do
    parts = Larder::Tree.dump([:"LarderSerializersTest::NeverLoaded", [:a], [1]], true)
    frame = Larder::Codecs::Frame.value(7, [0xB1, Larder::Tree::STRUCT].pack("CC") + parts)
    [false, true].each { |trusted| assert_unreadable { serializer(:native, trusted: trusted).load(frame) } }
    assert self.class.autoload?(:NeverLoaded)
  end

  test "what is not read again is not written" do
    [[:json, { max_bytes: 100 }, "x" * 200], [:json, { max_depth: 3 }, [[[[1]]]]]].each do |name, options, value|
      assert_raises(Larder::UnserializableError) { serializer(name, **options).dump(value) }
    end
  end

  test "lists are written as deep as they are read" do
    limits = [[100, {}], [10, { max_depth: 10 }], [500, { max_depth: 500 }]]
    { json: limits, xml: limits, active_support_json: limits.first(2) }.each do |name, all|
      all.product([1, "[[[", "\"[", [], { "a" => "}" }]) do |(most, options), inside|
        made = serializer(name, **options)
        lists = most - (inside.is_a?(Enumerable) ? 1 : 0)
        deep = lists.times.reduce(inside) { |inner, i| i.odd? ? [inner] : { "k" => inner } }
        assert_equal deep, made.load(made.dump(deep)), name
        assert_raises(Larder::UnserializableError, "#{name} #{most}") { made.dump([deep]) }
      end
    end
  end

  test "frames that a client of a server took for text are read" do
    text = serializer(:json).dump({ "a" => "é" }).force_encoding(Encoding::UTF_8)
    assert_equal({ "a" => "é" }, serializer(:json).load(text))
  end

  test "bytes of Marshal run nothing unless they are trusted or signed" do
    MarshalBomb.exploded = false
    frames = [Marshal.dump(MarshalBomb.new), serializer(:marshal).dump(MarshalBomb.new),
              "\x01".b + Zlib.deflate(Marshal.dump(MarshalBomb.new))]
    (BRINGS_BACK.keys - [:marshal]).product(frames) do |name, frame|
      assert_unreadable do
        Larder::Serializers[name].load(frame)
      end
    end
    assert_unreadable { Larder::Serializers[:marshal, sign_with: SECRET].load(frames[1]) }
    assert_not MarshalBomb.exploded
    assert_message(/give sign_with: a secret; where nobody else can write .* say trusted: true/) do
      Larder::Serializers[:marshal]
    end
  end

  test "lists in lists are read up to max_depth" do
    { json: "[", active_support_json: "[", message_pack: "\x91", native: "\xAD\x01", xml: "<l>" }.each do |name, open|
      id = Larder::Serializers::TABLE.fetch(name)
      prefix = name == :message_pack ? ActiveSupport::MessagePack::Serializer::SIGNATURE : "".b
      bomb = Larder::Codecs::Frame.value(id, prefix + (open.b * 100_000))
      assert_unreadable { serializer(name).load(bomb) }
    end
    deep = 30.times.reduce("x") { |inner, _| [inner] }
    %i[json active_support_json xml].each do |name|
      frame = serializer(name).dump(deep)
      assert_equal deep, serializer(name).load(frame)
      assert_unreadable { serializer(name, max_depth: 10).load(frame) }
    end
  end

  test "a few bytes make no gigabytes" do
    { message_pack: ["\xDD\xFF\xFF\xFF\xFF", "\xDB\xFF\xFF\xFF\xFF", "\xDF\xFF\xFF\xFF\xFF",
                     "\xC9\xFF\xFF\xFF\xFF\x01"],
      native: ["\xAD\xFF\xFF\xFF\xFF\x0F", "\xA8\xFF\xFF\xFF\xFF\x0F"] }.each do |name, all|
      prefix = name == :message_pack ? ActiveSupport::MessagePack::Serializer::SIGNATURE : "".b
      all.each do |bytes|
        assert_unreadable do
          serializer(name).load(Larder::Codecs::Frame.value(Larder::Serializers::TABLE[name], prefix + bytes.b))
        end
      end
    end
    assert_unreadable { serializer(:json, max_bytes: 100).load(serializer(:json).dump("x" * 200)) }
  end

  test "XML has no document type, no entities and no declarations" do
    ["<!DOCTYPE s [<!ENTITY a \"b\">]><s>&a;</s>", "<?xml version=\"1.0\"?><s>a</s>", "<s>&a;</s>", "<s><!-- a --></s>",
     "<s>a</s><s>b</s>", "<s a=\"b\">a</s>", "<unknown/>", "<l>text</l>", "<i>one</i>", "<s>a", "",
     "<s>a</l>"].each do |xml|
      assert_unreadable { serializer(:xml).load(Larder::Codecs::Frame.value(5, xml)) }
    end
  end

  test "an id is an attribute of its record or a child, and comes back as what it was" do
    records = [{ "id" => 5, "a" => "b" }, { "Id" => "7", "n" => nil }, { "id" => "007" }, { "id" => nil },
               { "id" => [1] }]
    attribute, child = %i[attribute child].map { |shape| serializer(:xml, shape: shape) }
    assert_includes attribute.dump(records), '<r id="5"><a>b</a></r>'
    assert_includes child.dump(records), '<r><id t="i">5</id><a>b</a></r>'
    [attribute, child].product([attribute, child]) do |writer, reader|
      assert_equal records, reader.load(writer.dump(records))
    end
  end

  test "what cannot be read is reported once for each reason" do
    Larder::Reports.reset
    reports = reports_of do
      3.times { |i| assert_unreadable { serializer(:json).load("foreign #{i}") } }
      2.times { assert_unreadable { serializer(:json).load(serializer(:json).dump("x").byteslice(0, 4)) } }
    end
    assert_equal 2, reports.size
    assert_equal ["codecs.larder"], reports.pluck(:source).uniq
  ensure
    Larder::Reports.reset
  end

  test "a report of bytes that cannot be read quotes nothing of them" do
    bytes = Larder::Codecs::Frame
    gone = Marshal.dump(Gone.new).sub("Gone", "Away")
    [[:json, bytes.value(2, '{"email":ann@example.org}')], [:xml, bytes.value(5, "<i>ann@example.org</i>")],
     [:marshal, bytes.value(1, gone)]].each do |name, frame|
      Larder::Reports.reset
      error = assert_raises(ActiveSupport::Cache::DeserializationError) { serializer(name).load(frame) }
      assert_no_match(/ann@|example/, error.message)
      assert_match(/undefined class.*Away/, error.message) if name == :marshal
    end
  ensure
    Larder::Reports.reset
  end

  test "what is wrong is said" do
    assert_message(/unknown serializer :yml; .*known: :marshal, :json/) { Larder::Serializers[:yml] }
    assert_message(/serializer :json has no option :level; it takes :max_depth/) do
      Larder::Serializers[:json, level: 1]
    end
    assert_message(/serializer :protobuf needs schema:/) { Larder::Serializers[:protobuf] }
    assert_message(/shape: of serializer :xml is :list; it takes :attribute or :child/) do
      Larder::Serializers[:xml, shape: :list]
    end
    assert_message(/sign_with: takes Strings of at least 16 bytes, got one of 3/) do
      Larder::Serializers[:json, sign_with: "key"]
    end
    assert_message(/sign_with: is empty; give a secret/) { Larder::Serializers[:json, sign_with: nil] }
    assert_message(/serializer :message_pack has no option :max_depth/) do
      Larder::Serializers[:message_pack, max_depth: 5]
    end
  end
end
