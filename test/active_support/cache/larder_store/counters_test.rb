# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # increment, decrement, read_counter, write_counter.
  class CountersTest < StoreCase
    test "a missing key counts from nothing" do
      assert_equal 1, store.increment("up")
      assert_equal 5, store.increment("by five", 5)
      assert_equal(-1, store.decrement("down"))
      assert_equal(-5, store.decrement("by five down", 5))
    end

    test "a counter counts on from a raw value" do
      store.write("n", 10, raw: true)
      assert_equal 11, store.increment("n")
      assert_equal 8, store.decrement("n", 3)
      assert_equal 8, store.read("n", raw: true)
      assert_equal 6, store.increment("n", -2)
    end

    test "a raw value of text digits counts" do
      store.write("n", "41", raw: true)
      assert_equal 42, store.increment("n")
    end

    test "read_counter answers an integer or nil" do
      assert_nil store.read_counter("n")
      store.increment("n", 3)
      assert_equal 3, store.read_counter("n")
      assert_equal 3, store.read("n", raw: true)
    end

    test "write_counter sets what is counted from" do
      assert_same true, store.write_counter("n", 7)
      assert_equal 7, store.read_counter("n")
      assert_equal 8, store.increment("n")
      assert_same true, store.write_counter("n", "12")
      assert_equal 12, store.read_counter("n")
    end

    test "read_counter and write_counter take the options of read and write" do
      store.write_counter("n", 1, namespace: "a", expires_in: 60)
      assert_nil store.read_counter("n")
      assert_equal 1, store.read_counter("n", namespace: "a")
      travel(61.seconds) { assert_nil store.read_counter("n", namespace: "a") }
    end

    test "expires_in of the first increment holds, later ones do not prolong it" do
      assert_equal 1, store.increment("n", 1, expires_in: 60)
      travel(30.seconds) { assert_equal 2, store.increment("n", 1, expires_in: 600) }
      travel(61.seconds) do
        assert_nil store.read_counter("n")
        assert_equal 1, store.increment("n", 1, expires_in: 60)
      end
    end

    test "a counter that begins with an expiry of 0 has expired, and one that is there goes on" do
      [0, 0.0].each do |zero|
        assert_equal 3, store.increment("zero", 3, expires_in: zero)
        assert_nil store.read("zero")
      end
      store.increment("zero", 1)
      assert_equal 3, store.increment("zero", 2, expires_in: 0)
      assert_equal 3, store.read("zero")
      store.write("versioned", 5, version: "1", expires_in: 60)
      assert_equal 1, store.increment("versioned", 1, version: "2", expires_in: 0)
      assert_nil store.read("versioned")
    end

    test "expires_in of a written counter outlives increments and decrements" do
      store.write("n", 1, raw: true, expires_in: 60)
      store.increment("n")
      store.decrement("n", 5, expires_in: 1.day)
      travel(59.seconds) { assert_equal(-3, store.read_counter("n")) }
      travel(61.seconds) { assert_nil store.read_counter("n") }
    end

    test "a counter that is counted with a version keeps its expiry" do
      store.increment("n", 1, expires_in: 60)
      assert_equal 3, store.increment("n", 2, version: "v1")
      assert_equal 2, store.decrement("n", 1, version: "v2", expires_in: 1.day)
      travel(59.seconds) { assert_equal 2, store.read_counter("n") }
      travel(61.seconds) { assert_nil store.read_counter("n") }
    end

    test "expires_at is taken" do
      store.increment("n", 1, expires_at: 1.minute.from_now)
      travel(61.seconds) { assert_nil store.read_counter("n") }
    end

    test "the store's expires_in holds for counters" do
      cache = new_store(expires_in: 60)
      cache.increment("n")
      cache.increment("ever", 1, expires_in: nil)
      travel(61.seconds) { assert_equal [nil, 1], [cache.read_counter("n"), cache.read_counter("ever")] }
    end

    test "a counter is deleted, and counts anew" do
      store.increment("n", 5)
      assert_same true, store.delete("n")
      assert_equal 1, store.increment("n")
    end

    test "a namespace separates counters" do
      store.increment("n", 1, namespace: "a")
      assert_equal 1, store.increment("n", 1, namespace: "b")
      assert_equal 2, store.increment("n", 1, namespace: "a")
    end

    test "a counter exists, and reads as its number where it is not asked for as raw" do
      store.increment("n", 5)
      assert_same true, store.exist?("n")
      assert_equal 5, store.read("n")
      assert_equal({ "n" => 5 }, store.read_multi("n"))
      assert_equal(5, store.fetch("n") { flunk "the block ran" })
      assert_same false, store.write("n", 1, unless_exist: true)
    end

    test "an integer written as an entry is counted, and keeps its expiry" do
      store.write("n", 5, expires_in: 60)
      assert_equal 6, store.increment("n", 1, expires_in: 1.day)
      assert_equal 4, store.decrement("n", 2)
      assert_equal [4, 4], [store.read("n"), store.read("n", raw: true)]
      travel(59.seconds) { assert_equal 4, store.read("n") }
      travel(61.seconds) { assert_equal 1, store.increment("n") }
    end

    test "so does one that is kept as an old value: it lives as long as it was given, and not as long as it is kept" do
      [{}, { namespace: "n" }, { version: "1" }, { early_refresh: true }].each do |more|
        store.write("n", 5, expires_in: 60, stale_if_error: 1.hour, **more)
        assert_equal 6, store.increment("n", 1, **more)
        travel(59.seconds) { assert_equal 6, store.read("n", **more), more }
        travel(61.seconds) { assert_nil store.read("n", **more), more }
      end
    end

    test "an expired entry counts as none" do
      store.write("n", 5, expires_in: 60)
      travel(61.seconds) do
        assert_equal 2, store.increment("n", 2, expires_in: 60)
        assert_equal 3, store.increment("n")
      end
      travel(122.seconds) { assert_nil store.read_counter("n") }
    end

    test "what has no integer of 64 bits is not counted, stays as it is, and is reported" do
      values = { "large" => 2**70, "symbol" => :a, "list" => [1], "infinite" => -Float::INFINITY }
      store.write_multi(values)
      reports = reports_of do
        values.each_key do |name|
          assert_nil store.increment(name)
          assert_nil store.decrement(name)
        end
      end
      assert_equal [Larder::NotANumber] * 8, (reports.map { |report| report[:error].class })
      assert_match(/"symbol" holds Symbol/, reports[2][:error].message)
      assert_equal values, store.read_multi(*values.keys)
    end

    test "with a coder of one's own, all that is counted goes through it" do
      cache = new_store(coder: Marshal)
      cache.write("entry", 5, expires_in: 60)
      cache.write("text", "five", raw: true)
      assert_equal [6, 1], [cache.increment("entry"), cache.increment("text")]
      assert_equal [1, 3], [cache.increment("n", expires_in: 9), cache.increment("n", 2)]
      assert_equal({ "entry" => 6, "text" => 1, "n" => 3 }, cache.read_multi("entry", "text", "n"))
      assert_equal 3, Marshal.load(cache.cache.get("n")).value
      travel(10.seconds) { assert_equal [6, nil], [cache.read_counter("entry"), cache.read_counter("n")] }
    end

    test "many who count with a coder of one's own lose nothing" do
      stores = Array.new(4) { new_store(coder: Marshal) }
      stores.map { |cache| Thread.new { 20.times { cache.increment("n") } } }.each(&:join)
      assert_equal 80, stores.first.read_counter("n")
    end

    test "an overflow is not counted" do
      store.write("n", (2**63) - 1, raw: true)
      store.write("entry", -(2**63))
      assert_nil store.increment("n")
      assert_nil store.decrement("entry")
      assert_equal [(2**63) - 1, -(2**63)], [store.read_counter("n"), store.read("entry")]
    end

    test "many who count an entry at once lose nothing" do
      store.write("n", 0)
      Array.new(8) { Thread.new { 50.times { store.increment("n") } } }.each(&:join)
      assert_equal 400, store.read_counter("n")
    end

    test "an entry that becomes a counter while it is looked at is counted, not lost" do
      store.write("n", 5)
      before(:get) { new_store.increment("n", 10) }
      assert_equal 16, store.increment("n")
      assert_equal 16, store.read_counter("n")
    end

    test "a raw integer that takes the place of another value while it is looked at is counted" do
      [store, new_store(coder: Marshal)].each do |cache|
        cache.write("n", "five", raw: true)
        before(:get, cache) { cache.write("n", 7, raw: true) }
        assert_equal 8, cache.increment("n")
      end
    end

    test "an entry that becomes a counter at its limit while it is looked at is not counted" do
      store.write("n", 5)
      before(:get) { new_store.write_counter("n", (2**63) - 1) }
      assert_nil store.increment("n")
      assert_equal (2**63) - 1, store.read_counter("n")
    end

    test "an entry that is replaced whenever it is looked at is given up" do
      store.write("n", 0)
      looks = 0
      before(:cas, times: 10_000) { new_store.write("n", looks += 1) }
      error = reports_of { assert_nil store.increment("n") }.first[:error]
      assert_instance_of Larder::NotANumber, error
      assert_operator looks, :<, 10_000
      assert_equal looks, store.read("n")
    end

    test "an amount that is no integer is an error" do
      assert_raises(ArgumentError) { store.increment("n", "one") }
      assert_raises(TypeError) { store.increment("n", nil) }
      assert_raises(TypeError) { store.decrement("n", nil) }
    end

    test "no increment of many threads and processes is lost" do
      pids = Array.new(3) do
        fork do
          200.times { store.increment("n") }
          exit!(0)
        end
      end
      Array.new(4) { Thread.new { 100.times { store.increment("n") } } }.each(&:join)
      pids.each { |pid| assert_predicate wait_for(pid), :success? }
      assert_equal 1000, store.read_counter("n")
    end

    private

    # Another thread runs the block just before the store calls a method of its cache.
    def before(method, cache = store, times: 1)
      calls = 0
      cache.level.records.define_singleton_method(method) do |*arguments, **options|
        Thread.new { yield }.join if (calls += 1) <= times
        super(*arguments, **options)
      end
    end
  end
end
