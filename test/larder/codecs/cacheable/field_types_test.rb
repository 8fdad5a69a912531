# frozen_string_literal: true

# Fields with types: what comes back, what is refused, and what is read after a declaration has changed.

require "test_helper"
require "support/codec_case"
require "active_support/all"
require "active_model"
require "bigdecimal"

class LarderCacheableFieldTypesTest < ActiveSupport::TestCase
  include CodecCase

  class Item
    include Larder::Cacheable

    attr_accessor :a, :b, :c
  end

  SERIALIZERS = %i[json active_support_json xml message_pack native protobuf].freeze

  def codec = Larder::Serializers[:json]

  def declare(fields = nil, serializer: :protobuf, **options)
    Item.cached_with(serializer: serializer, fields: fields, **options)
  end

  def item(**values)
    Item.new.tap { |made| values.each { |name, value| made.public_send(:"#{name}=", value) } }
  end

  def copy(made)
    codec.load(codec.dump(made))
  end

  test "values of every type come back, by every serializer" do
    { integer: [0, -1, 3_000_000_000, (2**63) - 1, -(2**63)], big_integer: [5], string: ["", "é"], text: ["a"],
      immutable_string: ["a"], boolean: [true, false], float: [1.5, -0.0, 5.0],
      decimal: [BigDecimal("12.50"), BigDecimal("-1e400"), BigDecimal("0"), BigDecimal("Infinity")],
      date: [Date.new(2026, 1, 2), Date.new(-1, 2, 3), Date.new(12_345, 6, 7)], binary: ["".b, "ascii".b] }
      .each do |type, values|
      SERIALIZERS.each do |serializer|
        declare({ a: type, b: type }, serializer: serializer)
        values.each do |value|
          back = copy(item(a: value))
          assert_equal [value, nil], [back.a, back.b], "#{type} by #{serializer}"
          assert_equal [value.class, value.to_s], [back.a.class, back.a.to_s]
        end
      end
    end
  end

  test "bytes come back as bytes, those of ActiveModel too" do
    bytes = "\xFF\0é".b
    SERIALIZERS.each do |serializer|
      declare({ a: :binary, b: :binary }, serializer: serializer)
      back = copy(item(a: bytes, b: ActiveModel::Type::Binary::Data.new(bytes)))
      assert_equal [bytes, bytes], [back.a, back.b]
      assert_equal [Encoding::BINARY] * 2, [back.a.encoding, back.b.encoding]
    end
  end

  test "a time comes back as the same moment, in UTC, with its nanoseconds, whatever Time.zone is" do
    zone, Time.zone_default = Time.zone_default, ActiveSupport::TimeZone["Berlin"]
    before, ENV["TZ"] = ENV.fetch("TZ", nil), "Europe/Berlin"
    moment = Time.utc(2024, 7, 1, 12, 0, 0, 1.234r).freeze
    times = [moment, moment.getlocal, moment.getlocal("+05:30"), moment.in_time_zone("Tokyo"), Time.at(-1.5r),
             DateTime.new(2024, 7, 1, 12, 0, 1.5r, "+2"), Time.utc(-5, 1, 1), Time.utc(99_999)]
    SERIALIZERS.product(%i[datetime time], times) do |serializer, type, time|
      declare({ a: type }, serializer: serializer)
      back = copy(item(a: time)).a
      assert_equal time, back, "#{type} by #{serializer}"
      assert_instance_of Time, back
      assert_predicate back, :utc?
    end
    assert_not_predicate times[1], :utc?
  ensure
    Time.zone_default = zone
    ENV["TZ"] = before
  end

  test "a Time is not changed by storing it" do
    declare({ a: :datetime })
    time = Time.now.getlocal("+03:00")
    codec.dump(item(a: time))
    assert_equal 10_800, time.utc_offset
  end

  test "what is no value of its type is refused, with the names of class and field" do
    { integer: [2**63, "12", 1.5, true], string: [:a, "a".html_safe, 1], boolean: ["true", 1],
      float: ["1.5", (2**60) + 1], decimal: [1.5, "1"], binary: [5],
      date: [Time.now, DateTime.now, "2026-01-01", Date.new(2026, 1, 1, Date::GREGORIAN)],
      datetime: [Date.new(2026), "2026-01-01", 5] }.each do |type, values|
      declare({ a: type })
      values.each do |value|
        error = assert_raises(Larder::UnserializableError, "#{value.inspect} as #{type}") { codec.dump(item(a: value)) }
        assert_match(/cached_with of #{Item}: the field a is .*, which is no :#{type}/, error.message)
      end
    end
    declare({ a: :string })
    assert_match(/Item.*UTF-8/, assert_raises(Larder::UnserializableError) { codec.dump(item(a: "\xFF")) }.message)
  end

  test "an unknown type is said with the class and the known ones" do
    assert_message(/fields: of .*Item has an unknown type :intger for :a; known: :integer, .*:binary/) do
      declare({ a: :intger })
    end
    names = %w[f5cx8zd f8m2kl6] # as CRC-32 has it
    assert_message(/fields: of .*Item cannot tell #{names.join(" from ")}/) do
      declare(names.to_h { |name| [name.to_sym, :string] })
    end
  end

  class Cents < ActiveModel::Type::Value
    def serialize(value) = Integer(value * 100)
    def deserialize(value) = value / 100.to_r
  end

  test "types that an application registered are asked" do
    ActiveModel::Type.register(:larder_cents, Cents)
    declare({ a: :larder_cents }, serializer: :json)
    assert_equal 5/4r, copy(item(a: 1.25r)).a
    error = assert_raises(Larder::UnserializableError) { codec.dump(item(a: "x")) }
    assert_match(/the field a is not a :larder_cents \(ArgumentError\)\z/, error.message)
    assert_message(/type :larder_cents has no equivalent in Protobuf/) { declare({ a: :larder_cents }) }
  end

  test "fields in another order, new ones and removed ones leave the others" do
    SERIALIZERS.each do |serializer|
      declare({ a: :string, b: :string }, serializer: serializer)
      frame = codec.dump(item(a: "Pear", b: "Acme"))
      [[{ b: :string, a: :string }, ["Pear", "Acme", nil]], [{ b: :string }, [nil, "Acme", nil]],
       [{ c: :string, b: :text }, [nil, "Acme", nil]], [{ c: :integer }, [nil] * 3]].each do |fields, expected|
        declare(fields, serializer: serializer)
        back = codec.load(frame)
        assert_equal expected, [back.a, back.b, back.c], "#{serializer} #{fields}"
      end
    end
  end

  test "the same holds after a change of the serializer" do
    SERIALIZERS.permutation(2) do |before, after|
      declare({ a: :string, b: :date }, serializer: before)
      frame = codec.dump(item(a: "Pear", b: Date.new(2026)))
      declare({ c: :integer, b: :date, a: :string }, serializer: after)
      back = codec.load(frame)
      assert_equal ["Pear", Date.new(2026), nil], [back.a, back.b, back.c]
    end
  end

  test "a field that has another type now makes an entry unreadable, not wrong" do
    SERIALIZERS.each do |serializer|
      declare({ a: :datetime, b: :string }, serializer: serializer)
      frame = codec.dump(item(a: Time.utc(2026), b: "5"))
      { a: :string, b: :integer }.each do |name, type|
        declare({ name => type }, serializer: serializer)
        assert_match(/#{name} was :\w+ and is :#{type}/, assert_unreadable { codec.load(frame) }.message)
      end
      declare(%i[a], serializer: :json)
      assert_match(/had types/, assert_unreadable { codec.load(frame) }.message)
    end
  end

  test "untyped fields that get types are read where they fit" do
    declare(%i[a], serializer: :json)
    text = codec.dump(item(a: "text"))
    declare({ a: :binary }, serializer: :json)
    assert_match(/a is no :binary/, assert_unreadable { codec.load(text) }.message)
    declare(%i[a b], serializer: :json)
    frames = [item(a: "x", b: 5), item(a: 5, b: 5)].map { |made| codec.dump(made) }
    declare({ a: :string, b: :integer })
    assert_equal ["x", 5], codec.load(frames[0]).then { |back| [back.a, back.b] }
    assert_match(/a is no :string/, assert_unreadable { codec.load(frames[1]) }.message)
  end

  test "rows by a given schema are read by that one only" do
    require "google/protobuf/wrappers_pb"
    type = Class.new { include Larder::Cacheable; attr_accessor :value }
    self.class.const_set(:Wrapped, type)
    type.cached_with serializer: :protobuf, schema: Google::Protobuf::StringValue
    frame = codec.dump(type.new.tap { |made| made.value = "x" })
    assert_equal "x", codec.load(frame).value
    type.cached_with serializer: :json, schema: Google::Protobuf::StringValue
    assert_equal "x", codec.load(frame).value
    type.cached_with serializer: :protobuf, schema: Google::Protobuf::BytesValue
    assert_match(/another schema/, assert_unreadable { codec.load(frame) }.message)
    type.cached_with serializer: :protobuf, fields: { value: :string }
    assert_match(/another schema/, assert_unreadable { codec.load(frame) }.message)
  end

  test "in a list, a field of a row by Protobuf costs one byte besides its value" do
    declare({ a: :integer, b: :integer })
    one, two = [200, 300].map { |count| codec.dump(Array.new(count) { item(a: 1, b: 2) }).bytesize }
    assert_equal 500, two - one
  end
end
