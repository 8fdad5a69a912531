# frozen_string_literal: true

# The behaviour that all levels share: the file alone, and the file with each kind of remote store.

require "support/remote_case"
require "redis"

# Larder::Store::LocalLevel and Larder::Store::TwoLevels.
class LarderStoreLevelsTest < RemoteCase
  Call = Larder::Store::Call
  Flight = Larder::Store::Flight
  Flights = Larder::Store::Flights
  Records = Larder::Store::Records
  NAMESPACE = "n:"

  # The value of `remote:`, by the kind of level.
  KINDS = {
    "the file" => -> {},
    "a file and a memory store" => -> { ActiveSupport::Cache::MemoryStore.new },
    "a file and a file store" => -> { [:file_store, path_of("far")] },
    "a file and Redis" => -> { [:redis_cache_store, { url: start_once("redis").endpoint.fetch("url") }] }
  }.freeze

  def self.test_levels(sentence, &block)
    KINDS.each do |kind, remote|
      test "#{kind}: #{sentence}" do
        remote = instance_exec(&remote)
        store = new_store("level.larder", **(remote ? { remote: remote } : {}), raise_errors: true)
        store.clear # a Redis is the one of earlier tests, too
        @level = store.level
        instance_exec(&block)
      end
    end
  end

  test_levels "a written entry is read, and nothing else" do
    assert_nil @level.read(call("a"))
    assert_equal true, write("a", "one", version: "1", expires_in: 60)
    assert_equal %w[one 1], @level.read(call("a", {}, "1")).then { |entry| [entry.value, entry.version] }
    assert_equal true, write("a", { b: [2.5, nil] })
    assert_equal({ b: [2.5, nil] }, @level.read(call("a")).value)
    assert_nil @level.read(call("b"))
  end

  test_levels "an entry of another version is known by its version" do
    write("a", "one", version: "1")
    assert @level.read(call("a", {}, "2")).mismatched?("2")
  end

  test_levels "an entry that has expired is not fresh, and one for race_condition_ttl can be stored again" do
    write("a", 1, expires_in: 10)
    write("b", 2, expires_in: 10, race_condition_ttl: 20)
    travel 15.seconds
    assert_not @level.read(call("a"))&.then { |entry| !entry.expired? }
    entry = @level.read(call("b", { race_condition_ttl: 20 }))
    assert_predicate entry, :expired?
    @level.store_again(call("b", { race_condition_ttl: 20 }), entry, 20)
    assert_not_predicate @level.read(call("b")), :expired?
  end

  test_levels "an entry is kept for as long as it may be served stale" do
    assert_nil @level.kept(call("a", stale))
    write("a", 1, **stale)
    assert_not_predicate @level.kept(call("a", stale)), :expired?
    travel 15.seconds
    entry = @level.kept(call("a", stale))
    assert_equal [1, true], [entry.value, entry.expired?]
  end

  test_levels "many are read at once, two names of one key too" do
    write("a", 1)
    write("b", "two")
    calls = [call("a"), call("b"), call("c"), call("a", {}, nil, "other name")]
    assert_equal({ "a" => 1, "b" => "two", "other name" => 1 }, values(@level.read_many(calls)))
    assert_empty @level.read_many([call("c")])
  end

  test_levels "many that are kept are read at once, fresh or stale" do
    write("a", 1, **stale)
    travel 15.seconds
    write("b", 2, **stale)
    found = @level.kept_many(%w[a b c].map { |key| call(key, stale) })
    assert_equal({ "a" => 1, "b" => 2 }, values(found))
    assert_equal([true, false], found.values.map { |entry| entry.expired? || false })
  end

  test_levels "with unless_exist the first writes" do
    assert_equal true, write("a", 1, unless_exist: true)
    assert_equal false, write("a", 2, unless_exist: true)
    assert_equal 1, @level.read(call("a")).value
  end

  test_levels "a value is stored under the lease of its key, unless that was deleted" do
    leased = ->(value) { write("a", value, flight: flight_of("a")) }
    assert_equal true, leased.call(1)
    assert_equal 1, @level.read(call("a")).value
    @level.delete("a")
    flight = flight_of("a")
    @level.delete("a")
    assert_equal false, write("a", 2, flight: flight)
    assert_nil @level.read(call("a"))
  end

  test_levels "a value of a caller without the lease is not stored" do
    assert_equal false, write("a", 1, flight: Flight.new(@level.records, "a", token: nil))
    assert_nil @level.read(call("a"))
  end

  test_levels "many are written at once" do
    assert_equal true, write_many({ "a" => 1, "b" => "two" }, expires_in: 60)
    assert_equal true, write_many({})
    assert_equal({ "a" => 1, "b" => "two" }, values(@level.read_many([call("a"), call("b")])))
  end

  test_levels "many are written with tags, stale windows, or where there are none" do
    write_many({ "a" => 1, "b" => 2 }, tags: ["t"])
    @level.delete_tagged(["t"])
    assert_empty @level.read_many([call("a"), call("b")])
    write_many({ "c" => 3 }, **stale)
    assert_nil write_many({ "c" => 4, "d" => 5 }, unless_exist: true) # one of them is there
    travel 15.seconds
    assert_equal({ "c" => 3, "d" => 5 }, values(@level.kept_many([call("c", stale), call("d", stale)])))
  end

  test_levels "a delete says whether there was an entry" do
    write("a", 1)
    assert_equal true, @level.delete("a")
    assert_nil @level.read(call("a"))
    assert_equal false, @level.delete("a")
  end

  test_levels "a delete of many says how many there were" do
    %w[a b c].each { |key| write(key, 1) }
    assert_equal 2, @level.delete_many(%w[a b none])
    assert_equal ["c"], values(@level.read_many(%w[a b c].map { |key| call(key) })).keys
  end

  test_levels "a delete of a tag concerns its entries, and values that began to be computed before" do
    write("a", 1, tags: %w[t u])
    write("b", 2, tags: ["u"])
    write("c", 3)
    tagged = call("d", { tags: ["t"] })
    Flights.within(Flight.new(@level.records, "d", stamp: @level.stamp(tagged))) do
      @level.delete_tagged(["t"])
      write("d", 4, tags: ["t"])
    end
    assert_equal({ "b" => 2, "c" => 3 }, values(@level.read_many(%w[a b c d].map { |key| call(key) })))
  end

  test_levels "a clear of a namespace, or of all" do
    inside = ->(key) { Call.new(key, NAMESPACE + key, { namespace: "n" }, nil, NAMESPACE) }
    @level.write(inside.call("a"), ActiveSupport::Cache::Entry.new(1), nil)
    assert_equal 1, @level.read(inside.call("a")).value
    assert_equal true, @level.clear(NAMESPACE)
    assert_nil @level.read(inside.call("a"))
    write("b", 2)
    assert_equal true, @level.clear("")
    assert_nil @level.read(call("b"))
  end

  test_levels "counters count" do
    count = ->(operation, amount) { @level.count(operation, call("a", { expires_in: 60 }), amount) }
    assert_equal [1, 6, 4], [count.call(:increment, 1), count.call(:increment, 5), count.call(:decrement, 2)]
    assert_equal 4, @level.read(call("a", { raw: true })).value.to_i
  end

  test_levels "one caller has the lease of a key until it ends or the key is changed" do
    status, lease = @level.take_lease(call("a"), &:itself)
    assert_equal Records::TAKEN, status
    assert_equal [Records::LEASED, false], [@level.take_lease(call("a"), &:itself).first, over?("a", lease)]
    @level.end_lease("a", lease)
    assert over?("a", lease)
    _, lease = @level.take_lease(call("a"), &:itself)
    @level.delete("a")
    assert over?("a", lease)
    assert_equal Records::TAKEN, @level.take_lease(call("a"), &:itself).first
  end

  test_levels "where there is a value, a lease is that of those who want another one" do
    write("a", 1)
    status, present = @level.take_lease(call("a"), &:itself)
    assert_equal Records::PRESENT, status
    assert_equal 1, @level.landed(call("a")).value
    assert_equal Records::TAKEN, @level.take_lease(call("a"), present, &:itself).first
    assert_nil @level.landed(call("b"))
  end

  test_levels "a caller with the lease computes and stores" do
    flight = flight_of("a")
    computed = @level.across(call("a"), flight, Process.clock_gettime(Process::CLOCK_MONOTONIC) + 5) do |stores|
      write("a", 7, flight: flight)
      [stores, 8]
    end
    assert_equal [true, 8], computed
    assert_equal 7, @level.read(call("a")).value
  end

  test_levels "after an error the old value is the answer for a while" do
    write("a", 1, **stale)
    travel 15.seconds
    errors = call("a", stale.merge(stale_if_error: 60))
    assert_predicate @level.kept(errors), :expired?
    @level.back_off(errors, Time.now.to_f)
    entry = @level.kept(errors)
    assert_equal [1, false], [entry.value, entry.expired?]
    travel(Larder::Store::LocalLevel::BACK_OFF.seconds + 1)
    assert_predicate @level.kept(errors), :expired?
  end

  test_levels "the figures are those of the file" do
    items = @level.stats[:items]
    write("a", 1)
    assert_operator @level.stats[:items], :>, items
  end

  private

  def stale
    { expires_in: 10, stale_while_revalidate: 60 }
  end

  def call(key, options = {}, version = nil, name = key)
    Call.new(name, key, options, version)
  end

  def write(key, value, flight: nil, version: nil, **options)
    entry = ActiveSupport::Cache::Entry.new(value, **options.slice(:expires_in), version: version)
    @level.write(call(key, options, version), entry, flight)
  end

  def write_many(values, **options)
    entries = values.transform_values { |value| ActiveSupport::Cache::Entry.new(value, **options.slice(:expires_in)) }
    @level.write_many(entries, call(nil, options))
  end

  def values(found)
    found.to_h { |call, entry| [call.name, entry.is_a?(String) ? entry : entry.value] }
  end

  # @return [Larder::Store::Flight] of a lease of this caller
  def flight_of(key)
    status, lease = @level.take_lease(call(key), &:itself)
    assert_equal Records::TAKEN, status
    Flights.current.add(Flight.new(@level.records, key, token: lease))
  end

  def over?(key, lease)
    @level.lease_over?(key, lease, 0, nil)
  end
end
