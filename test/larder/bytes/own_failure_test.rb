# frozen_string_literal: true

# What is raised into a thread while it reads or writes goes through, wherever it is; what a value's own constructors
# raise is no value, as before.

require "test_helper"
require "support/codec_case"
require "support/codec_values"
require "support/store_case"
require "active_record"

class LarderOwnFailureTest < StoreCase
  include CodecCase

  # Of each class, for a Thread#raise of its own, and so that its clauses are those that libraries' errors meet.
  KINDS = [ArgumentError, TypeError, RuntimeError, KeyError, NoMethodError, RangeError, NotImplementedError].freeze
  # LARDER_RAISES=100 raises at each event of the work, and as often at random moments.
  ALL = ENV.key?("LARDER_RAISES")
  ROUNDS = Integer(ENV.fetch("LARDER_RAISES", "5"))
  Row = Struct.new(:id, :name, :at)
  Pair = Struct.new(:left, :right, keyword_init: true)

  # Marshal alone knows it.
  class Shape
    attr_reader :sides

    def initialize(sides) = @sides = sides
    def marshal_dump = @sides.map(&:to_s)
    def marshal_load(sides) = @sides = sides.map { |side| Integer(side) }
    def ==(other) = other.is_a?(Shape) && other.sides == sides
  end

  # Does in its constructor, and when it is written, what a test says.
  class Hooked
    class << self
      attr_accessor :on_load, :on_dump
    end

    def marshal_dump = self.class.on_dump&.call
    def marshal_load(_) = self.class.on_load&.call
  end

  teardown { Hooked.on_load = Hooked.on_dump = nil }

  VALUES = {
    structs: Array.new(2) { |i| Row.new(i, "Name #{i}", Time.at(i, in: "+01:00")) },
    hashes: Array.new(2) { |i| { "id" => i, at: Time.at(i, 5, :nsec, in: "+02:00"), day: Date.new(2026, 1, 1) + i } },
    nested: Pair.new(left: Pair.new(left: 1r, right: Set[1, :a]), right: [BigDecimal("1.5"), 2**70, 1..2]),
    others: [Shape.new([3, 4])] * 2,
    plain: { "rows" => Array.new(3) { |i| { "id" => i, "tags" => ["a", nil, 1.5] } } }
  }.freeze
  PACKED = VALUES.slice(:hashes, :plain).freeze
  JSON = VALUES.slice(:plain).freeze

  { native: VALUES.except(:others), marshal: VALUES, message_pack: PACKED, json: JSON, xml: JSON }.each do |name, all|
    test "whatever is raised into a thread that writes and reads by #{name} goes through, wherever it is" do
      codec = serializer(name)
      bytes = all.transform_values { |value| codec.dump(value) }
      all.each_pair do |key, value|
        everywhere { [codec.dump(value) == bytes[key]] }
        everywhere { [codec.load(bytes[key]) == value] }
      end
      storm { all.flat_map { |key, value| [codec.dump(value) == bytes[key], codec.load(bytes[key]) == value] } }
    end
  end

  { plain: {}, compressed: { compress: true, compress_threshold: 1 }, marshal: { serializer: :marshal } }
    .each do |name, options|
    test "whatever is raised into a thread that uses a store, #{name}, goes through, and no other value is there" do
      one = new_store(**options)
      VALUES.each_pair do |key, value|
        one.write(key, value)
        everywhere { [one.read(key) == value] }
        everywhere { [one.write(key, value)] }
        everywhere { [one.write_multi(key => value), one.read_multi(key) == { key => value }] }
        assert_equal value, one.read(key)
      end
      storm { VALUES.flat_map { |key, value| [one.read(key) == value, one.write(key, value)] } }
      VALUES.each_pair { |key, value| assert_equal value, one.fetch(key) { :missed } }
    end
  end

  test "whatever is raised into a thread that stores records goes through" do
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
    ActiveRecord::Schema.verbose = false
    ActiveRecord::Schema.define { create_table(:fruits, force: true) { |table| table.string :name } }
    fruits = Array.new(2) { |i| Fruit.create!(name: "Fruit #{i}") }
    store.write("fruits", fruits)
    everywhere { [store.read("fruits") == fruits] }
    everywhere { [store.write("fruits", fruits)] }
    storm { [store.read("fruits") == fruits, store.write("fruits", fruits)] }
  end

  class Fruit < ActiveRecord::Base
  end

  test "a timeout with a class of its own ends a constructor that hangs, and the reading with it" do
    bytes, stored = hooked
    Hooked.on_load = -> { sleep }
    assert_equal "late", assert_raises(ArgumentError) { Timeout.timeout(0.05, ArgumentError, "late", &bytes) }.message
    assert_equal "late", assert_raises(RuntimeError) { Timeout.timeout(0.05, RuntimeError, "late", &stored) }.message
  end

  test "a timeout of the value's own ends its constructor, and is its own" do
    bytes, stored = hooked
    Hooked.on_load = -> { Timeout.timeout(0.05) { sleep } }
    assert_unreadable { bytes.call }
    assert_nil stored.call
  end

  test "what a signal's trap raises goes through" do
    bytes, = hooked
    before = Signal.trap("USR2") { raise ArgumentError, "from outside" }
    runs = 0
    Hooked.on_load = -> { (runs += 1) == 1 ? Process.kill("USR2", Process.pid) && sleep(1) : nil }
    assert_equal "from outside", assert_raises(ArgumentError) { bytes.call }.message
  ensure
    Signal.trap("USR2", before || "DEFAULT")
  end

  test "what is raised into a fiber goes through" do
    bytes, = hooked
    runs = 0
    Hooked.on_load = -> { Fiber.yield if (runs += 1) == 1 }
    fiber = Fiber.new { bytes.call }
    fiber.resume
    assert_equal "from outside", assert_raises(TypeError) { fiber.raise(TypeError, "from outside") }.message
  end

  test "what comes from outside while a failure is looked at goes through, too" do
    bytes, = hooked
    main = Thread.current
    runs = 0
    Hooked.on_load = lambda do
      Thread.new { main.raise(KeyError, "from outside") }.join if (runs += 1) == 2
      raise ArgumentError, "its own"
    end
    assert_equal "from outside", assert_raises(KeyError) { bytes.call }.message
    assert_equal 2, runs
  end

  test "what a constructor raises is no value, whatever its message says of addresses" do
    [-> { raise "own" }, -> { Object.new.strange }, -> { raise NotImplementedError }, -> { Integer("x") },
     -> { self.class.missing_constant_of_nobody }, -> { [].fetch(9) }].each do |failing|
      bytes, stored = hooked
      Hooked.on_load = failing
      assert_unreadable { bytes.call }
      assert_nil stored.call
    end
  end

  test "what a value raises when it is written is raised, and is no other value" do
    store.write("hooked", 1)
    Hooked.on_dump = -> { raise ArgumentError, "own" }
    assert_equal "own", assert_raises(ArgumentError) { store.write("hooked", Hooked.new) }.message
    assert_equal 1, store.read("hooked")
  end

  private

  # A reading by the serializer, and one by the store.
  def hooked
    codec = serializer(:marshal)
    Hooked.on_load = nil
    bytes = codec.dump(Hooked.new)
    store.write("hooked", Hooked.new)
    [->(*) { codec.load(bytes) }, ->(*) { store.read("hooked") }]
  end

  # Raises at each event of the work, or, where there are many, at ever fewer of them. The work is as a trap meets it.
  def everywhere(&work)
    place = 0
    loop do
      place += ALL ? 1 : 1 + (place / 8)
      error = KINDS[place % KINDS.size].new("raised at event #{place}")
      found, answers = raised_at(place, error, &work)
      return assert(answers.all?) unless found

      assert_same error, found, found.is_a?(Exception) ? found.full_message : "#{error.inspect} vanished"
    end
  end

  # @return [Array(Object, Array)] what came out where it was raised, and what the work answered
  def raised_at(place, error)
    events = 0
    trace = TracePoint.new(:line, :return, :b_return, :c_return) { raise error if (events += 1) == place }
    answers = trace.enable(target_thread: Thread.current) { yield }
    [(:vanished if events >= place), answers]
  rescue StandardError, ScriptError => e
    [e]
  end

  # Raises into a thread that works, again and again, and sees each exception come out of the work.
  def storm(&work)
    caught = Queue.new
    wrong = nil
    @stop = false
    worker = Thread.new { work_on(caught, work) { |answers| wrong ||= answers } }
    caught.pop # it begins
    random = Random.new(Minitest.seed)
    ROUNDS.times do |round|
      sleep(random.rand * 0.001)
      error = KINDS[round % KINDS.size].new("raise #{round}")
      worker.raise(error)
      found = Timeout.timeout(120) { caught.pop }
      assert_same error, found, found.full_message
    end
    assert_nil wrong
  ensure
    @stop = true # msgpack takes Thread#kill for an error of its own
    worker.join
  end

  def work_on(caught, work)
    Thread.handle_interrupt(StandardError => :never, ScriptError => :never) do
      caught << :ready
      loop do
        Thread.handle_interrupt(StandardError => :immediate, ScriptError => :immediate) do
          until @stop
            answers = work.call
            yield answers unless answers.all?
          end
        end
        break if @stop
      rescue StandardError, ScriptError => e
        caught << e
      end
    end
  end
end
