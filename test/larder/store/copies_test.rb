# frozen_string_literal: true

# Larder::Store::Records#keep_copies and #keep_strings, which are written in C: what they store, and what they refuse.

require "test_helper"
require "active_support/cache/larder_store"

class LarderStoreCopiesTest < ActiveSupport::TestCase
  include TemporaryCaches

  NOW = 1_900_000_000_000
  SECONDS = NOW / 1000.0
  Entry = ActiveSupport::Cache::Entry

  def records
    @records ||= Larder::Store::Records.new(cache)
  end

  def dump(value, **options)
    Larder::Coder.new.dump(Entry.new(value, **options))
  end

  def leases(*keys)
    records.leases(keys, 1000, NOW)
  end

  # @return [Array] the Strings, the payloads that are left, the leases that are left
  def keep(payloads, leases: self.leases(*payloads.keys), latest: SECONDS + 60, tags: [], stamp: nil)
    [records.keep_strings(payloads, leases, latest, NOW, tags, stamp), payloads, leases]
  end

  def value(key)
    records.get_entry(key, NOW)
  end

  test "Strings of Rails' coder are copied as they are" do
    { "utf" => "grün", "bin" => "\xFF\x00".b, "ascii" => "a".encode("US-ASCII"), "empty" => +"",
      "broken" => "\xFF", "long" => "x" * 100_000 }.each do |key, text|
      found, left, leases = keep({ key => dump(text) })
      assert_equal [{ key => text }, {}, {}], [found, left, leases], key
      assert_equal text.encoding, found[key].encoding
      assert_equal [text, SECONDS + 60, nil], value(key)
      assert_equal text.encoding, value(key).first.encoding
    end
  end

  test "a copy ends with its entry, and with the time that is given at the latest" do
    keep({ "a" => dump("a", expires_at: SECONDS + 10), "b" => dump("b", expires_at: SECONDS + 100) })
    assert_equal [SECONDS + 10, SECONDS + 60], [value("a")[1], value("b")[1]]
  end

  test "what is no String, expired, compressed or has a version is left" do
    payloads = { "hash" => dump({ a: 1 }), "old" => dump("old", expires_at: SECONDS),
                 "epoch" => dump("old", expires_at: 0.0),
                 "version" => dump("v", version: "1"),
                 "long" => Larder::Coder.new.dump_compressed(Entry.new("x" * 5000), 100), "counter" => "5",
                 "marshal" => Marshal.dump("a"), "nothing" => "", "integer" => 5, "nil" => nil }
    given = payloads.dup
    found, left, = keep(payloads)
    assert_equal [{}, given], [found, left]
    given.each_key { |key| assert_nil value(key) }
  end

  test "bytes that are cut off or changed anywhere are a String or left, and never more" do
    whole = dump("text", expires_at: SECONDS + 10)
    cut = (0..whole.bytesize).map { |size| whole.byteslice(0, size) }
    changed = whole.bytesize.times.flat_map do |at|
      [0x00, 0x7F, 0x80, 0xFF].map { |byte| whole.dup.tap { |bytes| bytes.setbyte(at, byte) } }
    end
    (cut + changed).each do |bytes|
      found, left, = keep({ "k" => bytes })
      assert_equal 1, found.size + left.size
      next if found.empty?

      wanted = Larder::Coder.new.load(bytes)
      assert_equal [wanted.value, wanted.value.encoding], [found["k"], found["k"].encoding]
      assert_nil wanted.version
      assert_not(travel_to(Time.at(SECONDS)) { wanted.expired? })
    end
  end

  test "only under a lease that has not ended, which ends then" do
    held = leases("a", "b")
    cache.delete("a")
    found, left, leases = keep({ "a" => dump("1"), "b" => dump("2"), "c" => dump("3") }, leases: held)
    assert_equal [{ "a" => "1", "b" => "2", "c" => "3" }, {}, ["a"]], [found, left, leases.keys]
    assert_equal [nil, "2", nil], (%w[a b c].map { |key| value(key)&.first })
  end

  test "with tags, from a stamp on" do
    stamp = cache.stamp
    keep({ "a" => dump("1") }, tags: ["\0t"], stamp: stamp)
    assert_equal "1", value("a").first
    cache.delete_tagged("\0t")
    assert_nil value("a")
    keep({ "b" => dump("1") }, tags: ["\0t"], stamp: stamp)
    assert_nil value("b"), "it began before the deletion"
  end

  test "a value that is too large for the file leaves the others" do
    long = "x" * (cache.size * 2)
    found, left, leases = keep({ "a" => dump(long), "b" => dump("2") })
    assert_equal [%w[a b], {}, ["a"]], [found.keys, left, leases.keys]
    assert_equal [nil, "2"], (%w[a b].map { |key| value(key)&.first })
  end

  test "entries are copied likewise, and those for a coder are answered" do
    entries = { "hash" => Entry.new({ a: 1 }), "time" => Entry.new(Thread.current),
                "version" => Entry.new("v", version: "2"),
                "old" => Entry.new("o", expires_at: SECONDS - 1), "list" => Entry.new([1]) }
    held = leases(*entries.keys)
    rest = records.keep_copies(entries, held, SECONDS + 60, NOW, [], nil, true)
    assert_equal [["time"], %w[time old]], [rest.keys, held.keys]
    assert_equal [{ a: 1 }, "v", [1]], (%w[hash version list].map { |key| value(key).first })
    assert_equal "2", value("version").last
  end

  test "wrong arguments raise" do
    held = leases("k")
    payloads = { "k" => dump("1") }
    [[nil, held, SECONDS, NOW, [], nil], [payloads, [], SECONDS, NOW, [], nil], [payloads, held, nil, NOW, [], nil],
     [payloads, held, SECONDS, "now", [], nil], [payloads, held, SECONDS, NOW, 5, nil],
     [payloads, held, SECONDS + 1, NOW, [], "short"], [payloads, { "k" => 5 }, SECONDS + 1, NOW, [], nil],
     [payloads, { "k" => "short" }, SECONDS + 1, NOW, [], nil],
     [{ 5 => dump("1") }, { 5 => held["k"] }, SECONDS + 1, NOW, [], nil]].each do |arguments|
      assert_raises(TypeError, ArgumentError, arguments.inspect) { records.keep_strings(*arguments) }
    end
    assert_nil value("k")
  end
end
