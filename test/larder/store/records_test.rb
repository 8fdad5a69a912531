# frozen_string_literal: true

# Wrong arguments of Larder::Store::Records, which is written in C, raise; they never crash or store a part.

require "test_helper"
require "larder/store/records"

class LarderStoreRecordsTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes

  NOW = 1_900_000_000_000
  INTEGER = 4

  # What is no String, and what is no Array.
  NO_STRINGS = [nil, 1, :a, 1.5, [], {}, Object.new].freeze
  NO_ARRAYS = [nil, 1, "bytes", :a, {}, Object.new].freeze

  def records
    @records ||= Larder::Store::Records.new(cache)
  end

  def set(key, bytes, flags = 0, ttl_ms = 0, only_absent: false, now: NOW)
    records.public_send(only_absent ? :add : :set, key, [bytes, flags, ttl_ms], now)
  end

  # A record without its identity.
  def read(key, now = NOW)
    records.get(key, now)&.first(3)
  end

  test "a record is read as it was stored" do
    assert_same true, set("key", "bytes\xFF", 255, 5000)
    assert_equal ["bytes\xFF".b, 255, NOW + 5000], read("key")
    assert_equal ["bytes\xFF".b, 255, NOW + 5000], read("key", NOW + 4999)
    assert_nil records.get("key", NOW + 5000)
    assert_nil records.get("nobody", NOW)
  end

  test "only where absent" do
    assert_same true, set("key", "1", 7, only_absent: true)
    assert_same false, set("key", "2", 8, only_absent: true)
    assert_equal ["1", 7, 0], read("key")
  end

  test "an entry is a String of bytes, or a plain value with expiry and version" do
    set("bytes", "bytes", 0)
    assert_equal "bytes".b, records.get_entry("bytes", NOW)
    set("text", "text", 0x80 | 1, 0)
    value, expires_at, version = records.get_entry("text", NOW)
    assert_equal ["text", Encoding::UTF_8, nil, ""], [value, value.encoding, expires_at, version]
    set("number", [7].pack("q<"), 0x10 | INTEGER, 6000) # kept for a second longer
    assert_equal 7, records.get_entry("number", NOW)[0]
    assert_in_delta NOW / 1000.0 + 5, records.get_entry("number", NOW)[1], 0.000_001
    set("unknown", "x", 15)
    assert_nil records.get_entry("unknown", NOW)
    assert_nil records.get_entry("nobody", NOW)
  end

  test "the expiry in seconds is reached in the very millisecond" do
    2000.times do |i|
      ms = NOW + (i * 997)
      seconds = records.entry_of(["", 6, ms])[1]
      assert_equal [ms, ms - 1], [(seconds * 1000).floor, (seconds.prev_float * 1000).floor]
    end
  end

  test "expiries at the ends of their range end" do
    [-(2**63), -1, 1, 999, 2**48, 2**53, (2**63) - 1].each do |ms|
      [0x06, 0x76].each { |flags| assert_kind_of Float, records.entry_of(["", flags, ms])[1] }
    end
  end

  test "entry_of makes the same of a record as get_entry, and leaves its bytes alone" do
    [[+"text", 1], [+"text", 2], [+"text", 3], [[1].pack("q<"), 4], [[1.5].pack("E"), 5], [+"", 6], [+"symbol", 9],
     ["x" * 5000, 1], [+"other", 0], [+"odd", 12]].each do |bytes, flags|
      set("key", bytes, flags)
      before = [bytes.dup, bytes.encoding]
      assert_equal records.get_entry("key", NOW).inspect, records.entry_of([bytes.b, flags, 0]).inspect
      entry = records.entry_of([bytes, flags, 0])
      entry.first << "changed" if entry.is_a?(Array) && entry.first.is_a?(String)
      assert_equal before, [bytes, bytes.encoding]
    end
  end

  test "many entries at once, each with its own bytes" do
    200.times { |i| set("key/#{i}", [i].pack("q<"), INTEGER) }
    set("large", "l" * 300_000, 2)
    set("odd", "x", 15)
    keys = Array.new(250) { |i| "key/#{i}" } + %w[large odd key/1]
    found = records.get_entries(keys, NOW)
    assert_equal 201, found.size
    assert_equal [[5, nil, nil], ["l" * 300_000, nil, nil]], found.values_at("key/5", "large")
    assert_equal({}, records.get_entries([], NOW))
  end

  test "many records at once" do
    many = Array.new(150) { |i| ["key/#{i}", ["v#{i}", i, i.zero? ? -1 : i * 1000]] }.to_h
    assert_equal [], records.set_multi(many, NOW)
    assert_nil records.get("key/0", NOW)
    assert_equal ["v9", 9, NOW + 9000], read("key/9")
    assert_equal [], records.set_multi({}, NOW)
  end

  test "compare and swap stores over the record that was read, and over no equal one" do
    ["1", "1" * 5000, "1" * 300_000].each do |bytes|
      set("key", bytes, 1, 5000)
      old = records.get("key", NOW)
      set("key", bytes, 1, 5000)
      same = records.get("key", NOW)
      assert_equal old.first(3), same.first(3)
      assert_same false, records.cas("key", old, ["new", 3, 0], NOW)
      assert_same true, records.cas("key", same, ["new", 3, 0], NOW)
      assert_same false, records.cas("key", same, ["new", 3, 0], NOW)
      assert_equal ["new", 3, 0], read("key")
    end
    found = records.get("key", NOW)
    assert cache.touch("key", ttl: 9, now: NOW / 1000)
    assert_same false, records.cas("key", found, ["newer", 3, 0], NOW), "the touch would be lost"
    assert_equal ["new", 3, NOW + 9000], read("key")
  end

  test "a plain record of a value, and none of others" do
    assert_equal ["text", 1, 0], records.plain("text", nil, nil, nil, nil, NOW, false)
    assert_equal ["text", 0x81, 0], records.plain("text", nil, nil, nil, "", NOW, false)
    assert_equal ["", 0x50 | 6, 301_000], records.plain(nil, (NOW / 1000.0) + 1, 1.0, nil, nil, NOW, false)
    assert_equal ["", 0x50 | 6, 291_000], records.plain(nil, (NOW / 1000.0) - 9, 1.0, nil, nil, NOW, false)
    assert_equal ["", 0x50 | 6, -1], records.plain(nil, (NOW / 1000.0) - 300, 1.0, nil, nil, NOW, false)
    [[Object.new, nil, nil, nil, nil], ["text", nil, nil, nil, 1], ["text", nil, nil, nil, "v" * 1025],
     ["text", nil, nil, nil, "\xE9".dup.force_encoding("ISO-8859-1")], [2**64, nil, nil, nil, nil],
     ["text", Float::NAN, 1.0, nil, nil], ["text", Float::INFINITY, 1.0, nil, nil],
     ["text", -1.0, 1.0, nil, nil], ["text", 1e300, 1e300, nil, nil], ["text", 2e9, 1.0, 1e9, nil]].each do |arguments|
      assert_nil records.plain(*arguments, NOW, false), arguments.inspect
    end
  end

  test "a version is behind the bytes of a plain value, and is read with it" do
    assert_equal ["textv1\x02\x00\x01".b, 11, 0], records.plain("text", nil, nil, nil, "v1", NOW, false)
    ["text", "text".b, "", 7, 1.5, nil, true, :name, { "a" => [1, nil] }].each do |value|
      ["1", "20261123120000123456", "é", "v" * 1024].each do |version|
        records.set("key", records.plain(value, nil, nil, nil, version, NOW, true), NOW)
        assert_equal [value, nil, version], records.get_entry("key", NOW)
      end
    end
  end

  test "a version that its record has no room for is a miss" do
    ["", "1", "12", "\xFF\xFF\x01", "v1\x03\x00\x01", "v1\x02\x00\x0B", "v1\x02\x00\x0F"].each do |bytes|
      records.set("key", [bytes.b, 11, 0], NOW)
      assert_nil records.get_entry("key", NOW), bytes.inspect
    end
  end

  test "a plain record's bytes are a String's own" do
    value = "text".dup.freeze
    assert_same value, records.plain(value, nil, nil, nil, nil, NOW, false)[0]
  end

  # ---- what is wrong ----

  test "keys that are no Strings" do
    NO_STRINGS.each do |key|
      %i[get_entry get].each { |name| assert_raises(TypeError, name) { records.public_send(name, key, NOW) } }
      assert_raises(TypeError) { records.get_entries(["a", key], NOW) }
      assert_raises(TypeError) { set(key, "bytes") }
      assert_raises(TypeError) { records.set_multi({ "a" => ["b", 0, 0], key => ["b", 0, 0] }, NOW) }
      assert_raises(TypeError) { records.cas(key, ["a", 0, 0, 1], ["a", 0, 0], NOW) }
    end
    assert_equal 0, cache.each_key.count
  end

  test "records that are no Arrays" do
    NO_ARRAYS.each do |record|
      %i[set add].each { |name| assert_raises(TypeError) { records.public_send(name, "key", record, NOW) } }
      assert_raises(TypeError) { records.set_multi({ "key" => record }, NOW) }
      assert_raises(TypeError) { records.cas("key", record, ["a", 0, 0], NOW) }
      assert_raises(TypeError) { records.cas("key", ["a", 0, 0, 1], record, NOW) }
      assert_raises(TypeError) { records.entry_of(record) }
      assert_raises(TypeError) { records.get_entries(record, NOW) }
    end
    [*NO_ARRAYS.grep_v(Hash), []].each { |many| assert_raises(TypeError) { records.set_multi(many, NOW) } }
  end

  # Short, long and wrong in each place.
  RECORDS = [[], ["a"], ["a", 0], [nil, 0, 0], [1, 0, 0], [:a, 0, 0], ["a", nil, 0], ["a", "0", 0], ["a", 0, nil],
             ["a", 0, "0"], ["a", [], 0], ["a", 0, {}], ["a", 2**64, 0], ["a", 0, 2**64], ["a", Object.new, 0]].freeze

  test "records with the wrong elements" do
    RECORDS.each do |record|
      wrong = [TypeError, RangeError]
      assert_raises(*wrong, record.inspect) { records.set("key", record, NOW) }
      assert_raises(*wrong, record.inspect) { records.set_multi({ "key" => record }, NOW) }
      assert_raises(*wrong, record.inspect) { records.cas("key", record, ["a", 0, 0], NOW) }
      assert_raises(*wrong, record.inspect) { records.cas("key", ["a", 0, 0, 1], record, NOW) }
      assert_raises(*wrong, record.inspect) { records.entry_of(record) }
    end
    assert_equal 0, cache.each_key.count
  end

  test "identities that no record has" do
    set("key", "a")
    [nil, "1", [], 2**64].each do |identity|
      assert_raises(TypeError, RangeError) { records.cas("key", ["a", 0, 0, identity], ["b", 0, 0], NOW) }
    end
    assert_raises(TypeError) { records.cas("key", ["a", 0, 0], ["b", 0, 0], NOW) }
    assert_raises(Larder::Error) { records.cas("key", ["a", 0, 0, 0], ["b", 0, 0], NOW) }
    assert_same false, records.cas("key", ["a", 0, 0, 1], ["b", 0, 0], NOW)
    assert_equal ["a", 0, 0], read("key")
  end

  test "times that are no numbers" do
    ["now", :now, [], Object.new].each do |now|
      %i[get_entry get].each { |name| assert_raises(TypeError) { records.public_send(name, "key", now) } }
      assert_raises(TypeError) { records.get_entries(["key"], now) }
      assert_raises(TypeError) { set("key", "bytes", now: now) }
      assert_raises(TypeError) { records.set_multi({ "key" => ["a", 0, 0] }, now) }
      assert_raises(TypeError) { records.plain("text", 2e9, 1.0, nil, nil, now, false) }
      assert_raises(TypeError) { records.plain("text", now, 1.0, nil, nil, NOW, false) }
      assert_raises(TypeError) { records.plain("text", 2e9, now, nil, nil, NOW, false) }
    end
    assert_raises(RangeError) { records.get_entry("key", 2**64) }
  end

  test "keys and values that are too long" do
    long = "k" * (Larder::Cache::MAX_KEY + 1)
    assert_raises(Larder::InvalidArgument) { records.get_entry(long, NOW) }
    assert_raises(Larder::InvalidArgument) { records.get_entries(["a", long], NOW) }
    assert_raises(Larder::InvalidArgument) { set(long, "bytes") }
    assert_raises(Larder::InvalidArgument) { set("key", "v" * (cache.max_value + 1)) }
    assert_raises(Larder::InvalidArgument) { records.set_multi({ long => ["v", 0, 0], "key" => ["v", 0, 0] }, NOW) }
    assert_equal ["v", 0, 0], read("key")
  end

  test "a closed cache" do
    cache.close
    calls = { get_entry: ["key", NOW], get: ["key", NOW], get_entries: [["key"], NOW],
              set: ["key", ["a", 0, 0], NOW], add: ["key", ["a", 0, 0], NOW],
              set_multi: [{ "key" => ["a", 0, 0] }, NOW], cas: ["key", ["a", 0, 0, 1], ["b", 0, 0], NOW] }
    calls.each { |name, arguments| assert_raises(Larder::ClosedError, name) { records.public_send(name, *arguments) } }
  end

  test "another object than a cache" do
    [nil, "cache", Object.new].each do |other|
      assert_raises(TypeError) { Larder::Store::Records.new(other).get("key", NOW) }
      assert_raises(TypeError) { Larder::Store::Records.new(other).set("key", ["a", 0, 0], NOW) }
    end
    assert_raises(TypeError) { Larder::Store::Records.allocate.get("key", NOW) }
  end

  test "all of them work while every allocation collects, and after compaction" do
    output = run_ruby(<<~RUBY, path_of("stressed.larder"), **BARE_RUBY)
      Larder::Cache.open(ARGV[0], size: #{SIZE}) do |cache|
        require "larder/store/records"
        stored = Larder::Store::Records.new(cache)
        exercise = lambda do |round|
          [0, 10, 3000, 5000, 300_000].each do |size|
            value = round.to_s * size
            record = stored.plain(value, 2e9, 5.0, nil, "", #{NOW}, true)
            raise "set" unless stored.set("key", record, #{NOW})
            raise "get" unless stored.get_entry("key", #{NOW})[0] == value
            raise "record" unless stored.entry_of(stored.get("key", #{NOW}))[0] == value
          end
          symbol = "s\#{round}" * 2000
          records = 70.times.to_h { |i| ["k\#{i}", [symbol, 9, 0]] }
          raise "many" unless stored.set_multi(records, #{NOW}) == []
          found = stored.get_entries(records.keys, #{NOW})
          raise "found" unless found.size == 70 && found.values.all? { |value, *| value == symbol.to_sym }
          old = stored.get("k1", #{NOW})
          raise "cas" unless stored.cas("k1", old, ["new", 0, 0], #{NOW})
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
