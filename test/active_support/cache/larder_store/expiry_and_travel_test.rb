# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # When an entry ends: expires_in, expires_at, race_condition_ttl, and all of them where a test travels in time.
  class ExpiryAndTravelTest < StoreCase
    test "an entry lives until expires_in has passed" do
      store.write("key", 1, expires_in: 1.minute)
      travel(59.seconds) { assert_equal 1, store.read("key") }
      travel(61.seconds) do
        assert_same false, store.exist?("key")
        assert_nil store.read("key")
      end
    end

    test "an entry lives until expires_at" do
      store.write("key", 1, expires_at: 1.minute.from_now)
      travel(59.seconds) { assert_equal 1, store.read("key") }
      travel(61.seconds) { assert_nil store.read("key") }
    end

    test "expire_in and expired_in are other names of expires_in" do
      store.write("a", 1, expire_in: 10)
      store.write("b", 1, expired_in: 10)
      travel(9.seconds) { assert_equal 2, store.read_multi("a", "b").size }
      travel(11.seconds) { assert_empty store.read_multi("a", "b") }
    end

    test "the store's expires_in holds where a call has none, and nil takes it away" do
      cache = new_store(expires_in: 10)
      cache.write("default", 1)
      cache.write("longer", 1, expires_in: 100)
      cache.write("never", 1, expires_in: nil)
      cache.write_multi({ "multi" => 1 })
      travel(11.seconds) { assert_equal %w[longer never], cache.read_multi("default", "longer", "never", "multi").keys }
      travel(10.years) { assert_equal 1, cache.read("never") }
    end

    test "fractions of a second count" do
      freeze_time
      store.write("key", 1, expires_in: 0.25)
      raw = store.write("raw", 1, raw: true, expires_in: 0.25)
      assert_same true, raw
      travel_to(Time.now + 0.2, with_usec: true)
      assert_equal [1, 1], [store.read("key"), store.read("raw", raw: true)]
      travel_to(Time.now + 0.1, with_usec: true)
      assert_equal [nil, nil], [store.read("key"), store.read("raw", raw: true)]
    end

    test "an entry that expires at once is a miss at once" do
      store.write("key", "old")
      store.write("key", "new", expires_in: 0)
      store.write("raw", "new", expires_in: 0, raw: true)
      assert_nil store.read("key")
      assert_nil store.read("raw", raw: true)
    end

    test "a life of millions of years is taken" do
      assert_same true, store.write("key", 1, expires_in: 10_000_000.years)
      assert_same true, store.write("raw", 1, expires_in: 10_000_000.years, raw: true)
      assert_equal [1, 1], [store.read("key"), store.read("raw", raw: true)]
    end

    test "expires_in and expires_at together are an error" do
      assert_raises(ArgumentError) { store.write("key", 1, expires_in: 1, expires_at: 1.minute.from_now) }
    end

    test "a Time as expires_in is an error" do
      assert_raises(ArgumentError) { store.write("key", 1, expires_in: 1.minute.from_now) }
    end

    test "a negative expires_in is reported and ignored, or raised, as Rails is set" do
      reports = reports_of { assert_same true, store.write("key", 1, expires_in: -1) }
      assert_equal [ArgumentError], reports.map { |report| report[:error].class }
      assert_equal 1, store.read("key")

      ActiveSupport::Cache::Store.with(raise_on_invalid_cache_expiration_time: true) do
        assert_raises(ArgumentError) { store.write("key", 2, expires_in: -1) }
      end
      assert_equal 1, store.read("key")
    end

    test "what is written in the past lives by the clock of the past" do
      travel_to(Time.utc(2008, 4, 24)) do
        store.write("key", 1, expires_in: 60)
        store.write("raw", 1, expires_in: 60, raw: true)
        store.increment("counter", 1, expires_in: 60)
        assert_equal [1, 1, 1], [store.read("key"), store.read("raw", raw: true), store.read_counter("counter")]
      end
      travel_to(Time.utc(2008, 4, 24, 0, 1, 1)) do
        assert_equal [nil, nil, nil], [store.read("key"), store.read("raw", raw: true), store.read_counter("counter")]
      end
    end

    test "raw values and counters expire as a test travels" do
      store.write("raw", "text", raw: true, expires_in: 60)
      store.increment("counter", 5, expires_in: 60)
      travel(59.seconds) do
        assert_equal "text", store.read("raw", raw: true)
        assert_equal 6, store.increment("counter")
      end
      travel(61.seconds) do
        assert_nil store.read("raw", raw: true)
        assert_same false, store.exist?("raw", raw: true)
        assert_equal({}, store.read_multi("raw", "counter", raw: true))
        assert_same false, store.delete("raw")
        assert_equal 1, store.increment("counter")
      end
    end

    test "an expired entry does not hinder unless_exist" do
      store.write("key", "old", expires_in: 60)
      store.write("raw", "old", expires_in: 60, raw: true)
      travel(61.seconds) do
        assert_same true, store.write("key", "new", unless_exist: true)
        assert_same false, store.write("key", "newer", unless_exist: true)
        assert_same true, store.write("raw", "new", unless_exist: true, raw: true)
        assert_equal "new", store.read("key")
      end
    end

    test "unless_exist with an expiry that is over leaves a live entry and replaces an expired one" do
      over = -> { ActiveSupport::Cache::Entry.new("new", expires_in: -400) }
      store.write("key", "old", expires_in: 60)
      assert_same false, store.__send__(:write_entry, "key", over.call, unless_exist: true, expires_in: -400)
      assert_equal "old", store.read("key")
      travel(61.seconds) do
        assert_same true, store.__send__(:write_entry, "key", over.call, unless_exist: true, expires_in: -400)
        assert_nil store.read("key")
      end
    end

    # Slow to load, so that all have read the expired entry before one replaces it.
    module SlowCoder
      def self.dump(entry)
        Marshal.dump(entry)
      end

      def self.load(bytes)
        Marshal.load(bytes).tap { sleep 0.02 }
      end
    end

    test "one of many wins an expired entry by unless_exist" do
      cache = new_store(coder: SlowCoder)
      cache.write("lock", "old", expires_in: 60)
      travel 61.seconds
      wins = Array.new(6) { |i| Thread.new { cache.write("lock", i, unless_exist: true, expires_in: 60) } }.map(&:value)
      assert_equal 1, wins.count(true)
      assert_equal wins.index(true), cache.read("lock")
    end

    test "the expiry of a real clock holds without any travel" do
      store.write("key", 1, expires_in: 0.05)
      store.write("raw", 1, expires_in: 0.05, raw: true)
      sleep 0.1
      assert_nil store.read("key")
      assert_nil store.read("raw", raw: true)
    end

    test "race_condition_ttl serves the old value to others while one renews it" do
      store.write("key", "old", expires_in: 60)
      travel(61.seconds) do
        renewed = store.fetch("key", race_condition_ttl: 10) do
          assert_equal "old", store.read("key")
          assert_equal("old", store.fetch("key", race_condition_ttl: 10) { flunk "two callers renew" })
          "new"
        end
        assert_equal "new", renewed
        assert_equal "new", store.read("key")
      end
    end

    test "race_condition_ttl keeps the old value where renewing fails, for that long" do
      store.write("key", "old", expires_in: 60)
      travel(61.seconds) do
        assert_raises(IOError) { store.fetch("key", race_condition_ttl: 10) { raise IOError } }
        assert_equal "old", store.read("key")
      end
      travel(72.seconds) { assert_nil store.read("key") }
    end

    test "race_condition_ttl does not serve what expired longer ago" do
      store.write("key", "old", expires_in: 60)
      travel(71.seconds) do
        store.fetch("key", race_condition_ttl: 10) do
          assert_nil store.read("key")
          "new"
        end
      end
    end

    test "race_condition_ttl may be longer than the life and than five minutes" do
      store.write("key", "old", expires_in: 5, race_condition_ttl: 20.minutes)
      travel(19.minutes) do
        store.fetch("key", race_condition_ttl: 20.minutes) do
          assert_equal "old", store.read("key")
          "new"
        end
      end
    end

    test "race_condition_ttl given to fetch alone serves what expired up to five minutes ago" do
      [1, 60, 1.day.to_i].each do |life|
        { 299 => "old", 301 => nil }.each_pair do |seconds, seen|
          store.write("key", "old", expires_in: life)
          travel((life + seconds).seconds) do
            store.fetch("key", race_condition_ttl: 3600) do
              assert_equal [seen], [store.read("key")], "#{seconds} s after a life of #{life} s"
              "new"
            end
          end
          store.clear
        end
      end
    end

    test "race_condition_ttl of the store or of the write serves what expired longer ago" do
      { {} => { race_condition_ttl: 3600 }, { race_condition_ttl: 3600 } => {} }.each do |setup, given|
        cache = new_store("longer.larder", **setup)
        cache.write("key", "old", expires_in: 60, **given)
        travel(60.seconds + 59.minutes) do
          cache.fetch("key", race_condition_ttl: 3600) do
            assert_equal "old", cache.read("key")
            "new"
          end
        end
        cache.clear
      end
    end

    # Writes another entry whenever it dumps one.
    class WritingCoder
      attr_accessor :cache

      def load(bytes) = Marshal.load(bytes)

      def dump(entry)
        cache.write("dumped", "yes") if cache && entry.value == "old"
        Marshal.dump(entry)
      end
    end

    test "race_condition_ttl stores the old value again, and no other that is written in between" do
      coder = WritingCoder.new
      cache = new_store(coder: coder)
      cache.write("key", "old", expires_in: 60)
      travel 65.seconds do
        coder.cache = cache
        cache.fetch("key", race_condition_ttl: 10) do
          assert_equal %w[old yes], [cache.read("key"), cache.read("dumped")]
          "new"
        end
        assert_equal "new", cache.read("key")
      end
    end

    test "race_condition_ttl does not bring back what was written or deleted since it was read" do
      { nil => ->(cache) { cache.delete("key") }, "newer" => ->(cache) { cache.write("key", "newer") } }
        .each do |expected, change|
        store.write("key", "old", expires_in: 60)
        travel 65.seconds
        entry = store.send(:read_entry, "key", race_condition_ttl: 10)
        change.call(store)
        assert_nil store.send(:expired, entry, Larder::Store::Call.new("key", "key", { race_condition_ttl: 10 }))
        assert_equal [expected], [store.read("key")]
      end
    end

    test "race_condition_ttl may be an option of the store" do
      cache = new_store(race_condition_ttl: 10, expires_in: 60)
      cache.write("key", "old")
      travel(61.seconds) do
        cache.fetch("key") do
          assert_equal "old", cache.read("key")
          "new"
        end
      end
    end

    test "race_condition_ttl does not prolong a counter" do
      store.increment("key", 1, expires_in: 60, race_condition_ttl: 10)
      travel(61.seconds) do
        assert_equal("new", store.fetch("key", race_condition_ttl: 10) { store.read("key") || "new" })
      end
    end

    test "a TTL is the caller's, however long the file keeps the entry" do
      struct = Struct.new(:field)
      Object.const_set(:TtlTestValue, struct)
      freeze_time do
        { 60 => nil, 30 => 10, 900 => 600 }.each do |expires_in, race|
          { plain: "text", tree: { "a" => [1] }, coder: TtlTestValue.new(1) }.each do |name, value|
            store.write(name, value, expires_in: expires_in, race_condition_ttl: race)
            assert_in_delta expires_in, store.cache.ttl(name.to_s, now: Time.now.to_f), 0.01, "#{name}, #{expires_in}"
          end
        end
        store.write("raw", "5", expires_in: 60, raw: true)
        assert_in_delta 60, store.cache.ttl("raw", now: Time.now.to_f), 0.01
        store.write("old", 1, expires_in: 60, stale_if_error: 1.day)
        assert_in_delta 60, store.cache.ttl("old", now: Time.now.to_f), 0.01
      end
      travel(901.seconds) do
        assert_equal [nil] * 5, %w[plain tree coder raw old].map { |name| store.cache.ttl(name, now: Time.now.to_f) }
        store.fetch("coder", race_condition_ttl: 10) do
          assert_equal TtlTestValue.new(1), store.read("coder"), "it was kept to be served"
        end
      end
    ensure
      Object.send(:remove_const, :TtlTestValue)
    end

    test "the expired is dropped from the file by cleanup, the living stays" do
      store.write("gone", 1, expires_in: 10)
      store.write("raw", 1, expires_in: 10, raw: true)
      store.write("long", 2, expires_in: 1.day)
      store.write("ever", 3)
      travel(1.hour) do
        assert_equal 2, store.cleanup
        assert_equal 2, store.stats[:items]
        assert_equal({ "long" => 2, "ever" => 3 }, store.read_multi("gone", "long", "ever"))
      end
    end
  end
end
