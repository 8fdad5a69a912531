# frozen_string_literal: true

# What is particular to Protocol Buffers; what it shares with the others is in test/larder/serializers_test.rb.

require "test_helper"
require "support/codec_case"
require "active_support/all"
require "google/protobuf/struct_pb"
require "google/protobuf/timestamp_pb"
require "google/protobuf/wrappers_pb"

class LarderSerializersProtobufTest < ActiveSupport::TestCase
  include CodecCase

  NOTHING = { "null_value" => nil, "number_value" => nil, "string_value" => nil, "bool_value" => nil,
              "struct_value" => nil, "list_value" => nil }.freeze
  TEXT, NUMBER, LIST, STRUCT, STAMP = %w[StringValue Int32Value ListValue Struct Timestamp].map do |name|
    Google::Protobuf.const_get(name)
  end

  def protobuf(schema, **options)
    Larder::Serializers[:protobuf, schema: schema, **options]
  end

  test "messages, Hashes, lists of them and Hashes within Hashes come back" do
    one = NOTHING.merge("number_value" => 1.5)
    two = NOTHING.merge("list_value" => { "values" => [one, NOTHING.merge("bool_value" => false)] })
    { TEXT => [TEXT.new(value: "é"), [TEXT.new] * 2, { "value" => "a" }, [], [{ "value" => "" }]],
      LIST => [{ "values" => [one, two] }, { "values" => [] }],
      STRUCT => [{ "fields" => { "a" => one, "b" => two } }] }.each do |schema, values|
      values.each do |value|
        copy = protobuf(schema).load(protobuf(schema).dump(value))
        assert_equal value, copy
        assert_equal value.class, copy.class
      end
    end
  end

  test "what would come back as something else is refused, and named" do
    message = Google::Protobuf::Value.new(string_value: "x")
    { TEXT => { nil => /not NilClass/, { value: "a" } => /:value is none/, {} => /lacks value/,
                { "value" => :a } => /value, which is a Symbol, would come back as a String in UTF-8/,
                { "value" => nil } => /which is nil, would come back as a String in/, { "value" => "\xFF" } => /UTF-8/,
                { "value" => "\xFF".b } => /UTF-8/, { "value" => "a", "b" => 1 } => /Unknown field name 'b'/,
                { "value" => "a" }.with_indifferent_access => /not ActiveSupport::HashWithIndifferentAccess/,
                { "value" => "é".encode("ISO-8859-1") } => /would come back/,
                { "value" => "safe".html_safe } => /would come back/, [{ "value" => "a" }, TEXT.new] => /or the other/,
                [TEXT.new, { "value" => "a" }] => /or the other/, NUMBER.new => /not Google::Protobuf::Int32Value/ },
      NUMBER => { { "value" => 1.0 } => /value, which is a Float, would come back as an Integer of/,
                  { "value" => 2**40 } => /./, { "value" => 2**70 } => /./ },
      Google::Protobuf::FloatValue => { { "value" => 0.1 } => /would come back as another one/ },
      LIST => { { "values" => [message] } => /values, which is .* would come back as/,
                { "values" => [{ string_value: "x" }] } => /values, which is/ },
      STAMP => { Time.now => /not Time/ } }.each do |schema, values|
      values.each do |value, pattern|
        error = assert_raises(Larder::UnserializableError, value.inspect) { protobuf(schema).dump(value) }
        assert_match(/\Aprotobuf .*#{pattern}.*:marshal/, error.message)
      end
    end
  end

  test "messages deeper than max_depth are refused when they are stored" do
    deep = 20.times.reduce(Google::Protobuf::Value.new(string_value: "x")) do |inner, _|
      Google::Protobuf::Value.new(list_value: LIST.new(values: [inner]))
    end
    assert_raises(Larder::UnserializableError) do
      protobuf(Google::Protobuf::Value, max_depth: 10).dump(deep)
    end
  end

  test "a list of more messages than its bytes pay for is neither stored nor read" do
    bomb = Larder::Codecs::Frame.value(6, "\1\0#{"\0" * 200_000}".b)
    assert_match(/too large/, assert_unreadable { protobuf(NUMBER).load(bomb) }.message)

    few = protobuf(NUMBER, max_items: 10)
    assert_equal 10, few.load(few.dump([NUMBER.new] * 10)).size
    error = assert_raises(Larder::UnserializableError) { few.dump([NUMBER.new] * 11) }
    assert_match(/raise max_items: \(10\)/, error.message)
    long = [TEXT.new(value: "x" * 64)] * 50
    assert_equal long, protobuf(TEXT, max_items: 1).then { |pb| pb.load(pb.dump(long)) }
    assert_message(/max_items: of serializer :protobuf is 0/) { protobuf(NUMBER, max_items: 0) }
  end

  test "so is a message that holds too many" do
    empty = "\x0A\x00".b * 1000
    payload = "\1\1".b << Larder::Codecs::Frame.leb128(empty.bytesize) << empty
    bomb = Larder::Codecs::Frame.value(6, payload)
    assert_match(/too large/, assert_unreadable { protobuf(LIST, max_items: 100).load(bomb) }.message)
    assert_equal 1000, protobuf(LIST).load(bomb).first["values"].size
  end
end
