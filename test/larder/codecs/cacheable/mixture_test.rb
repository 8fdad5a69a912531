# frozen_string_literal: true

# Declared objects among other values, in each other, and in containers of other kinds.

require "test_helper"
require "support/codec_case"
require "active_support/all"

class LarderCacheableMixtureTest < ActiveSupport::TestCase
  include CodecCase

  Point = Struct.new(:x, :y) do
    include Larder::Cacheable

    cached_with serializer: :native
  end

  class Tag
    include Larder::Cacheable

    attr_accessor :id, :more

    cached_with serializer: :json

    def initialize(id, more = nil)
      @id = id
      @more = more
    end

    def ==(other)
      other.instance_of?(self.class) && id == other.id && more == other.more
    end
    alias eql? ==

    def hash = 1
  end

  class OwnTag < Tag
    cached_with serializer: :xml, schema_version: 2
  end

  class List < Array; end

  Pair = Struct.new(:left, :right)

  STORES = %i[json native message_pack].freeze

  def assert_comes_back(value)
    STORES.each do |name|
      copy = serializer(name).load(serializer(name).dump(value))
      assert_equal value, copy, name
      assert_equal value.class, copy.class
    end
  end

  def refusal(value, store = :json)
    assert_raises(Larder::UnserializableError) { serializer(store).dump(value) }.message
  end

  test "lists and hashes of objects and other things come back" do
    tag, own, point = Tag.new(1), OwnTag.new(2), Point.new(1, 2)
    [[tag, nil], [nil, tag], { list: [tag] }, { "a" => tag, "b" => nil }, [tag, own], [tag, own, point], [[tag], [own]],
     { point: point }, { count: 2, page: 1, list: [tag, tag], at: Time.at(0).utc, 5 => { nil => nil, 1r => own } },
     [{ id: 1, tag: tag }, { id: 2, tag: nil }], [tag, 1, "text", :symbol, 1r], [1, tag], { tag => tag, 1 => nil },
     { tag => tag }, [1] * 200 + [tag, [[[own]]]]].each do |value|
      assert_comes_back value
    end
  end

  test "objects come back in Sets, Structs, and other containers that Larder's bytes know" do
    tag, own = Tag.new(1), OwnTag.new(2)
    [Set[tag, 1], Set[tag], Pair.new(tag, [own, tag]), [Pair.new(1, tag), Pair.new(own, nil)],
     { a: tag, b: [own] }.with_indifferent_access].each { |value| assert_comes_back value }
  end

  test "what stands there again is looked through once, and what holds itself is refused" do
    lists = 60.times.reduce([Tag.new(1)]) { |inner, _| [inner, inner] }
    assert_raises(Larder::UnserializableError) { serializer(:native).dump(lists) }
    lists = 10.times.reduce([Tag.new(1)]) { |inner, _| [inner, inner] }
    copy = serializer(:native).load(serializer(:native).dump(lists))
    assert_equal lists, copy
    assert_same copy[0], copy[1]
    circle = [Tag.new(1)]
    circle << circle << circle
    assert_raises(Larder::UnserializableError) { serializer(:native).dump(circle) }
  end

  test "objects in each other come back" do
    assert_comes_back Tag.new(1, Tag.new(2, [Tag.new(3), nil]))
    assert_comes_back [Tag.new(1, { "a" => [OwnTag.new(2, Point.new(1, Tag.new(3)))] })] * 2
    shared = Tag.new(1, 2)
    assert_comes_back Tag.new(shared, [shared, shared])
    copy = serializer(:json).load(serializer(:json).dump([shared, shared, nil]))
    assert_same copy[0], copy[1]
  end

  test "objects that hold each other are refused" do
    tag = Tag.new(1)
    tag.more = Tag.new(2, tag)
    assert_match(/Tag and what it holds hold each other; name the fields:/, refusal(tag))
    assert_match(/hold each other/, refusal([tag, nil]))
    list = [Tag.new(1)]
    list << list
    assert_raises(Larder::UnserializableError) { serializer(:native).dump(list) }
  end

  test "what a row cannot hold is named" do
    assert_match(/cached_with of #{Tag}: the field more, of Proc: json cannot bring back/, refusal(Tag.new(1, proc {})))
    assert_match(/cached_with of #{Point}: the field y, of IO: native/, refusal(Point.new(1, $stdout)))
    assert_match(/the field more, of Proc/, refusal(Tag.new(Tag.new(2), proc {})))
  end

  test "other things that Larder's bytes do not know are left to the store's serializer" do
    value = [Tag.new(1), Comparable]
    assert_equal value, serializer(:marshal).load(serializer(:marshal).dump(value))
    assert_match(/json cannot bring back/, refusal(value))
  end

  test "containers that Larder's bytes do not know are left to the store's serializer" do
    tag = Tag.new(1)
    identity = { "a" => tag }.compare_by_identity
    [Hash.new(0).merge("a" => tag), Hash.new { 0 }.merge("a" => tag), List[tag], identity].each do |value|
      assert_raises(Larder::UnserializableError, value.class.name) { serializer(:native).dump(value) }
      next if value.is_a?(Hash) && (value.default_proc || value.equal?(identity))

      copy = serializer(:marshal).load(serializer(:marshal).dump(value))
      assert_equal [value, value.class], [copy, copy.class]
      assert_equal 0, copy.default if value.instance_of?(Hash)
    end
    assert_raises(Larder::UnserializableError) { serializer(:native).dump([tag, List[tag]]) }
  end

  test "a text with the name of a class is a text" do
    [[Tag.name, Comparable], [Tag, 1], ["a #{Tag.name} of wood"]].each do |value|
      frame = serializer(:marshal).dump(value)
      assert_equal 1, Larder::Codecs::Frame.open_value(frame).first
      assert_equal value, serializer(:marshal).load(frame)
    end
  end

  test "numbers of no object are unreadable" do
    mixture = Larder::Cacheable::Mixture.new([1, Tag.new(1)])
    payload = typed.dump(mixture, nil)
    assert_equal [1, Tag.new(1)], typed.load(payload)
    place = mixture.bytes.index("\xB1\x1A".b) + 4
    [[1, 0], [0, 1], [127, 0], [0, 127], [0xA0, 0], [0, 0xA1], [0xFF, 0]].each do |group, number|
      damaged = payload.dup
      damaged.setbyte(2 + place, group)
      damaged.setbyte(3 + place, number)
      assert_unreadable { serializer(:json).load(Larder::Codecs::Frame.value(8, damaged)) }
    end
    assert_unreadable { serializer(:native).load(Larder::Codecs::Frame.value(7, mixture.bytes)) }
  end

  private

  def typed
    Larder::Cacheable::Frame.new(max_bytes: 1 << 20) { true }
  end
end
