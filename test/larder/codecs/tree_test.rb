# frozen_string_literal: true

# Arrays and Hashes of plain values as bytes (ext/larder/value/tree_format.h).

require "test_helper"
require "active_support/all"
require "larder/codecs"

class LarderTreeTest < ActiveSupport::TestCase
  include Processes

  def dump(value)
    Larder::Tree.dump(value, true)
  end

  def load(bytes)
    Larder::Tree.load(bytes, false, nil)
  end

  VALUES = [
    [], {}, [nil, true, false], [0, 127, 128, -32, -33, 255, 256, -129, 2**31, -(2**31) - 1, (2**62) - 1, -(2**62)],
    [0.0, -0.0, 1.5, Float::MAX, Float::MIN, Float::INFINITY, -Float::INFINITY],
    ["", "a" * 31, "a" * 32, "ü" * 4000, "\xFF\x00".b, "ascii".encode("US-ASCII"), "broken \xFF"],
    %i[a b a ü], { a: 1, "b" => 2, nil => 3, 4 => [5], [6] => 7, 8.5 => 9 },
    Array.new(300) { |i| { "id" => i, name: "n#{i}", "tags" => [i] } },
    Array.new(300) { |i| { "key #{i}" => i } }, (0..200).to_h { |i| [i.to_s, i] },
    Array.new(300) { |i| :"symbol #{i % 280}" }, { "a" => { "a" => { "a" => [{ "a" => 1 }] } } }
  ].freeze

  test "what is dumped comes back, with the same classes and encodings" do
    VALUES.each { |value| assert_same_value value, load(dump(value)).first }
  end

  test "the bytes are pinned" do
    assert_equal "ad05057fff80a0", dump([5, 127, -1, "", nil]).unpack1("H*")
    assert_equal "ad04a380a40001a600000000000000f0a7000000000000f83f".sub("00000000000000f0", "00000000000000f0"),
                 dump([-128, 256, -(2**60), 1.5]).unpack1("H*")
    assert_equal "ad02af018161a1c0a2", dump([{ "a" => false }, { "a" => true }]).unpack1("H*")
    assert_equal "ad03ab0161ac00a901ff", dump([:a, :a, "\xFF".b]).unpack1("H*")
    assert_equal "ae010102", dump({ 1 => 2 }).unpack1("H*")
  end

  test "rows of a list share their keys" do
    rows = load(dump([{ "name" => 1 }, { "name" => 2 }])).first
    assert_same rows[0].keys.first, rows[1].keys.first
    assert_predicate rows[0].keys.first, :frozen?
  end

  # The place of a key in the tables of ext/larder/value/tree_key.c.
  def place_of(key)
    first, last = [0, -8].map { |at| key.byteslice(at, 8).unpack1("Q<") }
    (((((first ^ key.bytesize) * 0x9e3779b97f4a7c15) ^ (last * 0xc2b2ae3d27d4eb4f)) >> 32) & 0xffffffff) % 512
  end

  test "Ractors that load at the same time get the keys of their own bytes" do
    alike = Array.new(20_000) { |i| format("a key %06d", i) }.group_by { |name| place_of(name) }.values.first(10)
    output = run_ruby(<<~RUBY, *alike.map { |names| names.first(3).join(",") }, options: ["-W0"])
      ractors = ARGV.map { |names| names.split(",") }.transpose.map do |names|
        value = names.to_h { |name| [name.to_sym, 1] }.merge(names.to_h { |name| [name, 2] })
        Ractor.new(value.keys, Larder::Tree.dump(value, true)) do |keys, bytes|
          500_000.times.count { Larder::Tree.load(bytes, false, nil).first.keys != keys }
        end
      end
      print ractors.map { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }.inspect
    RUBY
    assert_equal "[0, 0, 0]", output
  end

  Row = Struct.new(:id, :name)

  test "parts that would take for ever, or all memory, make nothing" do
    [[Larder::Tree::DECIMAL, "999999999999:0.1e1"], [Larder::Tree::RATIONAL, "1e999999999", 1],
     [Larder::Tree::RATIONAL, BigDecimal("0.1e9000000"), 1], [Larder::Tree::COMPLEX, "1e999999999r", 1],
     [Larder::Tree::DATE_TIME, 1e300, *[1] * 7], [Larder::Tree::DATE, 10**400], [Larder::Tree::DURATION, "x", {}],
     [Larder::Tree::TIME, 10**400, 0, 3600, true], [Larder::Tree::TIME, 1, 10**9, nil, false],
     [Larder::Tree::STRUCTS, :"LarderTreeTest::Row", %i[id name], "aa".."zz"],
     [Larder::Tree::STRUCTS, :"LarderTreeTest::Row", %i[id name], [[1]]], [Larder::Tree::SET, { 1 => 2 }],
     [Larder::Tree::URI, "http://#{"a" * 3000}"], [Larder::Tree::RECORDS, "ab", 7], [21, "(?<a>\\g<a>\\g<a>)", 0],
     [Larder::Tree::TEXT, "UTF-8", "x"]].each do |code, *parts|
      assert_nil load([0xB1, code].pack("CC") + dump(parts)), parts.inspect
    end
  end

  test "NaN is no key: there is no end to a Hash of many" do
    nan = dump(Float::NAN)
    { [{ 1.5 => 1 }, 1.5] => nan, [{ [1.5] => 1 }, 1.5] => nan, [Set[1.5], 1.5] => nan }.each do |(value, key), bytes|
      assert load(dump(value))
      assert_nil load(dump(value).sub(dump(key), bytes))
    end
    [{ Float::NAN => 1 }, { [Float::NAN] => 1 }, Set[Float::NAN], BigDecimal("NaN")].each do |value|
      assert_nil dump(value)
    end
    assert_predicate load(dump([Float::NAN])).first.first, :nan?
  end

  module Extension
  end
  Over = Struct.new(:a) do
    def to_a = [a.to_s]
    def to_h = { a: a.to_s }

    def []=(_, value)
      super(0, value.to_s)
    end
  end

  # Marshal is asked for these, on Larder's own store.
  test "a state that would be lost is refused" do
    indifferent = ActiveSupport::HashWithIndifferentAccess.new(a: 1)
    [Date.new(2001, 2, 3) + Rational(1, 2), Row.new(1).extend(Extension), [Row.new, Row.new.extend(Extension)],
     [Row.new(1), Row.new(2).tap { |row| def row.more = 1 }], indifferent.dup.compare_by_identity, /a/,
     Pathname("a").tap { |path| path.instance_variable_set(:@x, 1) }, URI::Generic.build(path: "//foo/bar"),
     [BasicObject.new], Time.at(0, in: TZInfo::Timezone.get("Europe/Berlin"))].each do |value|
      assert_nil dump(value)
    end
  end

  test "a time comes back to the nanosecond, and is left to others beyond it" do
    [Time.at(0, in: "UTC"), Time.at(-1, 999_999_999, :nsec, in: "UTC"), Time.utc(9999, 12, 31, 23, 59, 59.5r),
     Time.at(1, 5, :nsec, in: "+00:00"), Time.at(1, 5, :nsec)].each do |time|
      copy = load(dump(time)).first
      assert_equal [time, time.nsec, time.utc?, time.utc_offset], [copy, copy.nsec, copy.utc?, copy.utc_offset]
    end
    [Time.at(1r / 3, in: "UTC"), Time.at(2**80, in: "UTC"),
     Time.at(0, in: "UTC").tap { |time| time.instance_variable_set(:@a, 1) }].each { |time| assert_nil dump(time) }
  end

  test "methods that an application gave its class over Ruby's own are not asked" do
    assert_equal 1, load(dump(Over.new(1))).first.a
    assert_equal [1, 2], load(dump([Over.new(1), Over.new(2)])).first.map(&:a)
  end

  test "what stands in an indifferent Hash is not converted again" do
    hash = ActiveSupport::HashWithIndifferentAccess.new(a: [])
    hash[:a] << { b: 1 }
    copy = load(dump(hash)).first
    assert_equal [{ b: 1 }], copy[:a]
    assert_instance_of Hash, copy[:a].first
  end

  test "keys may be texts of any encoding and class that is known" do
    ["\xE9".dup.force_encoding("ISO-8859-1"), ActiveSupport::SafeBuffer.new("a")].each do |key|
      hash = { key => 1, "b" => 2 }
      assert_same_value hash, load(dump(hash)).first
    end
  end

  test "lists in lists that promise more than there is take no memory for it" do
    skip "needs Linux's /proc" unless File.exist?("/proc/self/statm")
    pages = -> { File.read("/proc/self/statm").to_i }
    before = pages.call
    bytes = +"".b
    99.times { bytes << 0xAD << 0x80 << 0x80 << 0x80 << 0x04 } # each of eight million
    assert_nil load(bytes << ("\x00".b * (9 << 20)))
    assert_operator pages.call - before, :<, 400_000
  end

  # Kinds of everything, so that a changed byte is often another kind, count or code.
  SEEDS = [VALUES, [Time.utc(2026), Date.new(2026), 1r, 2**80, Set[1, :a], 1..2, BigDecimal("1.5")],
           [Row.new(1, "a"), { "at" => Time.utc(2026), n: [nil, 2.5] }], { a: Row.new(Row.new, [1]) },
           [ActiveSupport::SafeBuffer.new("x"), 3.days, Time.utc(2026).in_time_zone("Berlin"), Pathname("a")]].freeze

  SHARED = [1, { "a" => [2] }].freeze
  # The same objects again, alone, as keys, in objects and in lists of them.
  AGAIN = [
    [SHARED, SHARED], { "a" => SHARED, SHARED => "b", 3 => { x: SHARED } }, Array.new(9) { { id: 1, list: SHARED } },
    [Row.new(1, SHARED), Row.new(SHARED, SHARED)], [Row.new(1, 2)] * 3, Set[SHARED, [SHARED]],
    Array.new(3, Date.new(2026)), [{ SHARED => 1 }, { SHARED => 2 }], 40.times.reduce([]) { |inner, _| [inner, inner] },
    [Time.utc(2026), SHARED, SHARED, Time.utc(2026)], Row.new(SHARED.last, SHARED)
  ].freeze

  test "whatever bytes are changed, left out or put in, there is a value or none, and soon" do
    random = Random.new(Minitest.seed)
    seeds = (SEEDS + AGAIN.first(8) + AGAIN.last(2)).map { |value| dump(value).byteslice(0, 3000) }
    started = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    tried = 0
    while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - started < 2
      bytes = mutated(seeds.sample(random: random), random)
      result = load(bytes)
      assert(result.nil? || result.size == 1, "seed #{Minitest.seed}: #{bytes.unpack1("H*")}")
      tried += 1
    end
    assert_operator tried, :>, 1000
  end

  def mutated(bytes, random)
    bytes = bytes.dup
    random.rand(1..6).times do
      at = random.rand(bytes.bytesize)
      case random.rand(4)
      when 0 then bytes.setbyte(at, random.rand(0x80..0xFF))
      when 1 then bytes.setbyte(at, random.rand(256))
      when 2 then bytes = bytes.byteslice(0, at) + (bytes.byteslice(at + random.rand(9)..) || "")
      else bytes = bytes.byteslice(0, at) + bytes.byteslice(random.rand(bytes.bytesize), 20) + bytes.byteslice(at..)
      end
      return "\xB1".b if bytes.empty?
    end
    bytes
  end

  test "what stands in a value more than once is written once, and comes back as one" do
    AGAIN.each do |value|
      bytes = dump(value)
      next assert_nil(bytes) if value.equal?(AGAIN[8]) # 2**40 lists are more than are written

      copy = load(bytes).first
      assert_equal identities(Marshal.load(Marshal.dump(value))), identities(copy)
      assert_equal bytes, dump(copy), "written alike again"
    end
    shared = { "a" => [] }
    assert_equal "b2ad02af01 8161 ad00 b301".delete(" "), dump([shared, shared]).unpack1("H*")
  end

  test "a value of which little is written is soon written and read, however much it would be" do
    lists = 21.times.reduce([]) { |inner, _| [inner, inner] }
    pairs = 15.times.reduce(Row.new(1, 2)) { |inner, _| Row.new(inner, inner) }
    hashes = 19.times.reduce({}) { |inner, _| { a: inner, b: inner } }
    { lists => 200, pairs => 400, hashes => 200 }.each do |value, most|
      before = GC.stat(:total_allocated_objects)
      bytes = dump(value)
      copy = load(bytes).first
      assert_operator bytes.bytesize, :<, most
      assert_operator GC.stat(:total_allocated_objects) - before, :<, 2000
      assert_same copy.to_a.flatten(1)[0], copy.to_a.flatten(1)[1] if copy.is_a?(Array)
    end
    orders = Array.new(2000) { |i| { "id" => i, "customer" => [{ "name" => "x" * 2000 }] * 1 } }
    customers = orders.first(20).map { |order| order["customer"] }
    orders.each_with_index { |order, i| order["customer"] = customers[i % 20] }
    assert_operator dump(orders).bytesize, :<, 80_000
  end

  test "more than 64 MiB of the same again, or deeper than 100, is left to others" do
    assert_nil dump(40.times.reduce([]) { |inner, _| [inner, inner] })
    assert_nil dump(30.times.reduce(Row.new(1, 2)) { |inner, _| Row.new(inner, inner) })
    deep = 60.times.reduce([]) { |inner, _| [inner] }
    assert_nil dump([deep, 60.times.reduce(deep) { |inner, _| [inner] }])
    assert_equal [deep, [deep]], load(dump([deep, [deep]])).first
  end

  test "a few bytes are no value of which anything could become" do
    doubled = lambda do |times|
      "\xB2".b + ("\xAD\x02".b * times) + "\xAD\x00".b + (0...times).map { |i| [0xB3, i].pack("CC") }.join
    end
    assert_equal 12.times.reduce([]) { |inner, _| [inner, inner] }, load(doubled.call(12)).first
    [40, 90].each { |times| assert_nil load(doubled.call(times)) }
    # A chain of 90, whose end is the chain of 90 before it.
    chain = "\xAD\x01".b * 90
    assert_nil load("\xB2\xAD\x02".b + chain + "\xAD\x00".b + chain + "\xB3\x5A".b)
    ["\xB3\x00", "\xB2\xB3\x00", "\xB2\xAD\x01\xB3\x00", "\xB2", "\xB2\xB2\x01", "\xAD\x01\xB2\x01",
     "\xB2\xAD\x02\xAD\x00\xB3\x01", "\xB2\xAD\x02\xAD\x00\xB3\xFF\xFF\xFF\xFF\x7F"].each do |bytes|
      assert_nil load(bytes.b), bytes.inspect
    end
    # [NaN], as a key of a Hash, and in a Set.
    list = "\xB2\xAD\x02\xAD\x01".b + dump(Float::NAN)
    assert_nil load(list + "\xAE\x01\xB3\x00\x01".b)
    assert_nil load(list + "\xB1\x0A\xAD\x01\xAD\x01\xB3\x00".b)
  end

  test "what holds itself is left to others, however often it does" do
    list = []
    list << list << list
    hash = {}
    hash[:a] = hash[:b] = [hash]
    pair = Row.new
    pair.id = pair.name = pair
    [list, hash, pair, [list, list], Set[list]].each { |value| assert_nil dump(value) }
  end

  test "a long work is interrupted" do
    long = Array.new(2_000_000) { |i| [i] }
    bytes = dump(long)
    [-> { Larder::Tree.dump(long, true) }, -> { Larder::Tree.load(bytes, false, nil) },
     -> { Larder::JsonCheck.offender(long, 100) }].each do |work|
      # Between two works it may be met, too, but not ten times.
      assert(Array.new(10) { interrupted(&work) }.any?(/\b(?:dump|load|offender)'/))
    end
  end

  # @return [String] where the work was
  def interrupted
    entered = Queue.new
    thread = Thread.new do
      entered << true
      loop { yield }
    rescue KeyError => e
      e.backtrace.join
    end
    entered.pop
    thread.raise(KeyError)
    thread.value
  end

  # Which objects are the same, by the order in which they come.
  def identities(value, seen = {}.compare_by_identity)
    case value
    when Array, Hash, Struct, Set, Date
      return seen[value] if seen[value]

      seen[value] = seen.size
      parts = value.is_a?(Hash) ? value.to_a.flatten(1) : value.to_a unless value.is_a?(Date)
      [value.class, parts&.map { |part| identities(part, seen) }]
    else value
    end
  end

  test "what comes back is one's own" do
    list = ["text", { "a" => "b" }].freeze
    copy = load(dump(list)).first
    copy << 1
    copy[0] << "!"
    copy[1]["c"] = 1
    assert_equal ["text", { "a" => "b" }], list
  end

  Keyed = Struct.new(:id, :name, keyword_init: true)
  Own = Struct.new(:id, :name) do
    def initialize(*) = raise("the constructor is not called again")
  end

  test "lists of Structs come back, of one class or several, without their constructors" do
    own = Own.allocate.tap { |struct| struct.id = 1 }
    [[Row.new(1, "a")] * 3, [Keyed.new(id: 1, name: "b"), Keyed.new], [own, own], [Row.new(1, [Row.new]), Keyed.new],
     [Row.new(1), 2, nil]].each do |list|
      copy = load(dump(list)).first
      assert_equal list, copy
      assert_equal list.map(&:class), copy.map(&:class)
    end
  end

  test "a Struct whose members changed is no value" do
    bytes = [dump(Row.new(1, "a")), dump([Row.new(1, "a")] * 2)]
    changed = Struct.new(:id, :title)
    original = self.class.send(:remove_const, :Row)
    self.class.const_set(:Row, changed)
    bytes.each { |dumped| assert_nil load(dumped) }
  ensure
    self.class.send(:remove_const, :Row)
    self.class.const_set(:Row, original)
  end

  module Space
    Point = Struct.new(:x)
  end

  test "a Struct is of the class that its name has now, and no value where it has none" do
    bytes = dump(Space::Point.new(1))
    loads = lambda do |expected|
      [true, false].each { |trusted| assert_equal [expected], [Larder::Tree.load(bytes, trusted, nil)] }
    end
    loads.call([Space::Point.new(1)])
    space = self.class.send(:remove_const, :Space)
    loads.call(nil)
    self.class.const_set(:Space, :no_module)
    loads.call(nil)
    self.class.send(:remove_const, :Space)
    self.class.const_set(:Space, Module.new).const_set(:Point, Struct.new(:x))
    loads.call([Space::Point.new(1)])
  ensure
    self.class.send(:remove_const, :Space)
    self.class.const_set(:Space, space)
  end

  test "a Struct whose class is no more what its name leads to is left to others, also if it was written before" do
    point = Space::Point.new(1)
    assert dump(point)
    refused = -> { assert_equal [nil, nil], [dump(point), dump([point, point])] }
    space = self.class.send(:remove_const, :Space)
    refused.call
    self.class.const_set(:Space, Module.new).const_set(:Point, Struct.new(:x))
    refused.call
    self.class.const_get(:Space).send(:remove_const, :Point)
    self.class.const_get(:Space).autoload(:Point, "nobody_loads_this_file_to_write")
    refused.call
  ensure
    self.class.send(:remove_const, :Space)
    self.class.const_set(:Space, space)
    assert_equal [point], load(dump(point))
  end

  Members = Struct.new(:class, :instance_variables)
  Methods = Struct.new(:a) do
    def class = String
    def instance_of?(_type) = true
    def instance_variables = []
  end

  test "a Struct with methods and members named as those of Object comes back as what it is" do
    [Members.new("a", 1), Methods.new(1)].each do |struct|
      [struct, [struct, struct], [Row.new(1), struct], { a: struct }].each do |value|
        assert_equal Marshal.dump(value), Marshal.dump(load(dump(value)).first)
      end
      struct.instance_variable_set(:@more, 1)
      assert_equal [nil, nil], [dump(struct), dump([struct, struct])]
    end
  end

  class Text < String; end

  test "anything else is left to others" do
    cycle = []
    cycle << cycle
    deep = 101.times.reduce(1) { |inner, _| [inner] }
    marked = +"text"
    marked.instance_variable_set(:@mark, 1)
    [Object.new, [Object.new], [Text.new("a")], { Text.new("a") => 1 }, [Comparable], Class, -> {}, $stdout,
     [{ "a" => 1 }, { Text.new("a").freeze => 1 }], [Hash.new(1)], [Hash.new { 1 }],
     [{}.compare_by_identity], cycle, deep, [marked], [Class.new(Array).new], [Class.new(Hash).new],
     [[].tap do |list|
       list.define_singleton_method(:a) do
         1
       end
     end]].each { |value| assert_nil dump(value), value.class.name }
  end

  test "lists within lists come back up to the depth that is written" do
    deep = 100.times.reduce(1) { |inner, _| [inner] }
    assert_equal [deep], load(dump(deep))
    assert_nil load("#{"\xAD\x01" * 101}\x01".b)
  end

  test "bytes that are not whole, or are not of this kind, are no value" do
    whole = dump(VALUES[8])
    100.times { |i| assert_nil load(whole.byteslice(0, i * whole.bytesize / 100)) }
    assert_nil load("#{whole}\x00".b)
    ["", "\xAD", "\xAD\x05\x01", "\xAF\x00", "\xAF\x41", "\xAF\x01\x05\x05", "\xC0", "\xB0\x00", "\xAC\x00",
     "\xA8\x05ab", "\xAB\x02\xC3\x28", "\xB1", "\xBF", "\xA7\x00", "\xAD\xFF\xFF\xFF\xFF\xFF\x01", "\xAE\x01\x01",
     "\xAF\x01\xAD\x00\x01"].each do |bytes|
      assert_nil load(bytes.b), bytes.inspect
    end
  end

  test "damaged bytes never do more than make another value, or none" do
    random = Random.new(7)
    VALUES.each do |value|
      whole = dump(value)
      300.times do
        damaged = whole.dup
        rand(1..3).times { damaged.setbyte(random.rand(damaged.bytesize), random.rand(256)) }
        load(damaged)
      end
    end
    found = Array.new(5000) { load(random.bytes(random.rand(80))) }
    assert_includes found, nil
  end

  test "a few bytes do not make much of themselves" do
    before = GC.stat(:total_allocated_objects)
    load("\xAD\xFF\xFF\xFF\x7F".b + ("\x01" * 1000))
    load("\xAE\xFF\xFF\xFF\x7F".b + ("\x01" * 1000))
    assert_operator GC.stat(:total_allocated_objects) - before, :<, 5000
  end

  private

  def assert_same_value(value, copy)
    assert_equal value.inspect, copy.inspect
    assert_equal Marshal.load(Marshal.dump(value)), copy
    assert_equal strings_of(value), strings_of(copy)
  end

  def strings_of(value)
    case value
    when String then [[value, value.encoding]]
    when Array then value.flat_map { |inner| strings_of(inner) }
    when Hash then value.flat_map { |pair| strings_of(pair) }
    else []
    end
  end

  test "a local time comes back with its zone and offset, in another zone too" do
    zones = ["Europe/Berlin", "UTC", "Asia/Kolkata"]
    zones.product([0, 1_700_000_000, 1_720_000_000, -2_000_000_000]).each do |zone, seconds|
      time = in_zone(zone) { Time.at(seconds, 123_456_789, :nsec).tap(&:zone) }
      bytes = in_zone(zone) { Larder::Tree.dump([time], true) }
      zones.each do |other|
        copy = in_zone(other) { Larder::Tree.load(bytes, true, nil).first.first.tap(&:zone) }
        assert_equal [time, time.utc_offset, time.zone, time.utc?, time.nsec],
                     [copy, copy.utc_offset, copy.zone, copy.utc?, copy.nsec], "#{zone}, #{other}, #{seconds}"
      end
    end
  end

  def in_zone(name)
    before, ENV["TZ"] = ENV.fetch("TZ", nil), name
    yield
  ensure
    ENV["TZ"] = before
  end
end
