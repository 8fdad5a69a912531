# frozen_string_literal: true

# The natives under the Rails store: _get_entry, _get_multi_entries, _get_record, _entry_of, _set_record, _set_records,
# _cas_record and _plain_record. They are private; what is wrong is an exception, never a crash or half a write.

require "test_helper"

class LarderCacheRecordsTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes

  NOW = 1_900_000_000_000
  INTEGER = 4

  # What is no String, and what is no Array.
  NO_STRINGS = [nil, 1, :a, 1.5, [], {}, Object.new].freeze
  NO_ARRAYS = [nil, 1, "bytes", :a, {}, Object.new].freeze

  def native(name, *arguments)
    cache.__send__(name, *arguments)
  end

  def set(key, bytes, flags = 0, ttl_ms = 0, only_absent: false, now: NOW)
    native(:_set_record, key, [bytes, flags, ttl_ms], only_absent, now)
  end

  test "a record is read as it was stored" do
    assert_same true, set("key", "bytes\xFF", 255, 5000)
    assert_equal ["bytes\xFF".b, 255, NOW + 5000], native(:_get_record, "key", NOW)
    assert_equal ["bytes\xFF".b, 255, NOW + 5000], native(:_get_record, "key", NOW + 4999)
    assert_nil native(:_get_record, "key", NOW + 5000)
    assert_nil native(:_get_record, "nobody", NOW)
  end

  test "only where absent" do
    assert_same true, set("key", "1", 7, only_absent: true)
    assert_same false, set("key", "2", 8, only_absent: true)
    assert_equal ["1", 7, 0], native(:_get_record, "key", NOW)
  end

  test "an entry is a String of bytes, or a plain value with expiry and version" do
    set("bytes", "bytes", 0)
    assert_equal "bytes".b, native(:_get_entry, "bytes", NOW)
    set("text", "text", 0x80 | 1, 0)
    value, expires_at, version = native(:_get_entry, "text", NOW)
    assert_equal ["text", Encoding::UTF_8, nil, ""], [value, value.encoding, expires_at, version]
    set("number", [7].pack("q<"), 0x10 | INTEGER, 6000) # kept for a second longer
    assert_equal 7, native(:_get_entry, "number", NOW)[0]
    assert_in_delta NOW / 1000.0 + 5, native(:_get_entry, "number", NOW)[1], 0.000_001
    set("unknown", "x", 15)
    assert_nil native(:_get_entry, "unknown", NOW)
    assert_nil native(:_get_entry, "nobody", NOW)
  end

  test "the expiry in seconds is reached in the very millisecond" do
    2000.times do |i|
      ms = NOW + (i * 997)
      seconds = native(:_entry_of, ["", 6, ms])[1]
      assert_equal [ms, ms - 1], [(seconds * 1000).floor, (seconds.prev_float * 1000).floor]
    end
  end

  test "expiries at the ends of their range end" do
    [-(2**63), -1, 1, 999, 2**48, 2**53, (2**63) - 1].each do |ms|
      [0x06, 0x76].each { |flags| assert_kind_of Float, native(:_entry_of, ["", flags, ms])[1] }
    end
  end

  test "_entry_of makes the same of a record as _get_entry, and leaves its bytes alone" do
    [[+"text", 1], [+"text", 2], [+"text", 3], [[1].pack("q<"), 4], [[1.5].pack("E"), 5], [+"", 6], [+"symbol", 9],
     ["x" * 5000, 1], [+"other", 0], [+"odd", 12]].each do |bytes, flags|
      set("key", bytes, flags)
      before = [bytes.dup, bytes.encoding]
      assert_equal native(:_get_entry, "key", NOW).inspect, native(:_entry_of, [bytes.b, flags, 0]).inspect
      entry = native(:_entry_of, [bytes, flags, 0])
      entry.first << "changed" if entry.is_a?(Array) && entry.first.is_a?(String)
      assert_equal before, [bytes, bytes.encoding]
    end
  end

  test "many entries at once, each with its own bytes" do
    200.times { |i| set("key/#{i}", [i].pack("q<"), INTEGER) }
    set("large", "l" * 300_000, 2)
    set("odd", "x", 15)
    keys = Array.new(250) { |i| "key/#{i}" } + %w[large odd key/1]
    found = native(:_get_multi_entries, keys, NOW)
    assert_equal 201, found.size
    assert_equal [[5, nil, nil], ["l" * 300_000, nil, nil]], found.values_at("key/5", "large")
    assert_equal({}, native(:_get_multi_entries, [], NOW))
  end

  test "many records at once" do
    records = Array.new(150) { |i| ["key/#{i}", ["v#{i}", i, i.zero? ? -1 : i * 1000]] }.to_h
    assert_equal [], native(:_set_records, records, NOW)
    assert_nil native(:_get_record, "key/0", NOW)
    assert_equal ["v9", 9, NOW + 9000], native(:_get_record, "key/9", NOW)
    assert_equal [], native(:_set_records, {}, NOW)
  end

  test "compare and swap looks at bytes, flags and expiry" do
    set("key", "1", 1, 5000)
    [["2", 1, NOW + 5000], ["1", 2, NOW + 5000], ["1", 1, NOW + 4999]].each do |expected|
      assert_same false, native(:_cas_record, "key", expected, ["new", 3, 0], NOW), expected.inspect
    end
    assert_same true, native(:_cas_record, "key", ["1", 1, NOW + 5000], ["new", 3, 0], NOW)
    assert_equal ["new", 3, 0], native(:_get_record, "key", NOW)
  end

  test "a plain record of a value, and none of others" do
    assert_equal ["text", 1, 0], native(:_plain_record, "text", nil, nil, nil, nil, NOW, false)
    assert_equal ["text", 0x81, 0], native(:_plain_record, "text", nil, nil, nil, "", NOW, false)
    assert_equal ["", 0x50 | 6, 301_000], native(:_plain_record, nil, (NOW / 1000.0) + 1, 1.0, nil, nil, NOW, false)
    assert_equal ["", 0x50 | 6, 291_000], native(:_plain_record, nil, (NOW / 1000.0) - 9, 1.0, nil, nil, NOW, false)
    assert_equal ["", 0x50 | 6, -1], native(:_plain_record, nil, (NOW / 1000.0) - 300, 1.0, nil, nil, NOW, false)
    [[Object.new, nil, nil, nil, nil], ["text", nil, nil, nil, "v1"], ["text", nil, nil, nil, 1],
     [2**64, nil, nil, nil, nil], ["text", Float::NAN, 1.0, nil, nil], ["text", Float::INFINITY, 1.0, nil, nil],
     ["text", -1.0, 1.0, nil, nil], ["text", 1e300, 1e300, nil, nil], ["text", 2e9, 1.0, 1e9, nil]].each do |arguments|
      assert_nil native(:_plain_record, *arguments, NOW, false), arguments.inspect
    end
  end

  test "a plain record's bytes are a String's own" do
    value = "text".dup.freeze
    assert_same value, native(:_plain_record, value, nil, nil, nil, nil, NOW, false)[0]
  end

  # ---- what is wrong ----

  test "keys that are no Strings" do
    NO_STRINGS.each do |key|
      %i[_get_entry _get_record].each { |name| assert_raises(TypeError, name) { native(name, key, NOW) } }
      assert_raises(TypeError) { native(:_get_multi_entries, ["a", key], NOW) }
      assert_raises(TypeError) { set(key, "bytes") }
      assert_raises(TypeError) { native(:_set_records, { "a" => ["b", 0, 0], key => ["b", 0, 0] }, NOW) }
      assert_raises(TypeError) { native(:_cas_record, key, ["a", 0, 0], ["a", 0, 0], NOW) }
    end
    assert_equal 0, cache.each_key.count
  end

  test "records that are no Arrays" do
    NO_ARRAYS.each do |record|
      assert_raises(TypeError) { native(:_set_record, "key", record, false, NOW) }
      assert_raises(TypeError) { native(:_set_records, { "key" => record }, NOW) }
      assert_raises(TypeError) { native(:_cas_record, "key", record, ["a", 0, 0], NOW) }
      assert_raises(TypeError) { native(:_cas_record, "key", ["a", 0, 0], record, NOW) }
      assert_raises(TypeError) { native(:_entry_of, record) }
      assert_raises(TypeError) { native(:_get_multi_entries, record, NOW) }
    end
    [*NO_ARRAYS.grep_v(Hash), []].each { |records| assert_raises(TypeError) { native(:_set_records, records, NOW) } }
  end

  # Short, long and wrong in each place.
  RECORDS = [[], ["a"], ["a", 0], [nil, 0, 0], [1, 0, 0], [:a, 0, 0], ["a", nil, 0], ["a", "0", 0], ["a", 0, nil],
             ["a", 0, "0"], ["a", [], 0], ["a", 0, {}], ["a", 2**64, 0], ["a", 0, 2**64], ["a", Object.new, 0]].freeze

  test "records with the wrong elements" do
    RECORDS.each do |record|
      wrong = [TypeError, RangeError]
      assert_raises(*wrong, record.inspect) { native(:_set_record, "key", record, false, NOW) }
      assert_raises(*wrong, record.inspect) { native(:_set_records, { "key" => record }, NOW) }
      assert_raises(*wrong, record.inspect) { native(:_cas_record, "key", record, ["a", 0, 0], NOW) }
      assert_raises(*wrong, record.inspect) { native(:_cas_record, "key", ["a", 0, 0], record, NOW) }
      assert_raises(*wrong, record.inspect) { native(:_entry_of, record) }
    end
    assert_equal 0, cache.each_key.count
  end

  test "times that are no numbers" do
    ["now", :now, [], Object.new].each do |now|
      %i[_get_entry _get_record].each { |name| assert_raises(TypeError) { native(name, "key", now) } }
      assert_raises(TypeError) { native(:_get_multi_entries, ["key"], now) }
      assert_raises(TypeError) { set("key", "bytes", now: now) }
      assert_raises(TypeError) { native(:_set_records, { "key" => ["a", 0, 0] }, now) }
      assert_raises(TypeError) { native(:_plain_record, "text", 2e9, 1.0, nil, nil, now, false) }
      assert_raises(TypeError) { native(:_plain_record, "text", now, 1.0, nil, nil, NOW, false) }
      assert_raises(TypeError) { native(:_plain_record, "text", 2e9, now, nil, nil, NOW, false) }
    end
    assert_raises(RangeError) { native(:_get_entry, "key", 2**64) }
  end

  test "keys and values that are too long" do
    long = "k" * (Larder::Cache::MAX_KEY + 1)
    assert_raises(Larder::InvalidArgument) { native(:_get_entry, long, NOW) }
    assert_raises(Larder::InvalidArgument) { native(:_get_multi_entries, ["a", long], NOW) }
    assert_raises(Larder::InvalidArgument) { set(long, "bytes") }
    assert_raises(Larder::InvalidArgument) { set("key", "v" * (cache.max_value + 1)) }
    assert_raises(Larder::InvalidArgument) { native(:_set_records, { long => ["v", 0, 0], "key" => ["v", 0, 0] }, NOW) }
    assert_equal ["v", 0, 0], native(:_get_record, "key", NOW)
  end

  test "a closed cache" do
    cache.close
    calls = { _get_entry: ["key", NOW], _get_record: ["key", NOW], _get_multi_entries: [["key"], NOW],
              _set_record: ["key", ["a", 0, 0], false, NOW], _set_records: [{ "key" => ["a", 0, 0] }, NOW],
              _cas_record: ["key", ["a", 0, 0], ["b", 0, 0], NOW] }
    calls.each { |name, arguments| assert_raises(Larder::ClosedError, name) { native(name, *arguments) } }
  end

  test "they are private" do
    natives = Larder::Cache.private_instance_methods(false).grep(/record|entr/)
    assert_equal 8, natives.size, natives.inspect
    assert_empty Larder::Cache.public_instance_methods.grep(/\A_(?:get|set|cas|plain|entry)/)
  end

  test "all of them work while every allocation collects, and after compaction" do
    output = run_ruby(<<~RUBY, path_of("stressed.larder"))
      Larder::Cache.open(ARGV[0], size: #{SIZE}) do |cache|
        exercise = lambda do |round|
          [0, 10, 3000, 5000, 300_000].each do |size|
            value = round.to_s * size
            record = cache.send(:_plain_record, value, 2e9, 5.0, nil, "", #{NOW}, true)
            raise "set" unless cache.send(:_set_record, "key", record, false, #{NOW})
            raise "get" unless cache.send(:_get_entry, "key", #{NOW})[0] == value
            raise "record" unless cache.send(:_entry_of, cache.send(:_get_record, "key", #{NOW}))[0] == value
          end
          symbol = "s\#{round}" * 2000
          records = 70.times.to_h { |i| ["k\#{i}", [symbol, 9, 0]] }
          raise "many" unless cache.send(:_set_records, records, #{NOW}) == []
          found = cache.send(:_get_multi_entries, records.keys, #{NOW})
          raise "found" unless found.size == 70 && found.values.all? { |value, *| value == symbol.to_sym }
          old = cache.send(:_get_record, "k1", #{NOW})
          raise "cas" unless cache.send(:_cas_record, "k1", old, ["new", 0, 0], #{NOW})
        end
        exercise.call(0)
        GC.stress = true
        exercise.call(1)
        GC.stress = false
        GC.compact if GC.respond_to?(:compact)
        GC.auto_compact = true if GC.respond_to?(:auto_compact=)
        exercise.call(2)
      end
      print "sound"
    RUBY
    assert_equal "sound", output
  end
end
