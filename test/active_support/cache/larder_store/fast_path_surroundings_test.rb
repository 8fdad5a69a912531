# frozen_string_literal: true

# What the fast path goes by around a call: who listens, whose clock it is, and whether the store is silenced.

require "support/store_case"
require "support/fast_path_calls"

module LarderStoreTests
  class FastPathSurroundingsTest < StoreCase
    include FastPathCalls

    FastPath = Larder::Store::FastPath

    # Everything was checked just before the test.
    setup do
      store.read("a")
      FastPath.check
    end

    # ---- listeners ----

    WRITE = "cache_write.active_support"
    SUBSCRIPTIONS = {
      "a name" => ->(seen) { ActiveSupport::Notifications.subscribe(WRITE) { |name, *| seen << name } },
      "a Regexp" => ->(seen) { ActiveSupport::Notifications.subscribe(/cache_write/) { |name, *| seen << name } },
      "everything" => ->(seen) { ActiveSupport::Notifications.subscribe(nil) { |name, *| seen << name } },
      "a monotonic clock" => lambda do |seen|
        ActiveSupport::Notifications.monotonic_subscribe(WRITE) { |name, *| seen << name }
      end,
      "an event object" => lambda do |seen|
        ActiveSupport::Notifications.subscribe(WRITE, ->(event) { seen << event.name })
      end,
      "the notifier" => lambda do |seen|
        ActiveSupport::Notifications.notifier.subscribe(WRITE) { |name, *| seen << name }
      end
    }.freeze

    test "a subscriber gets its events from the moment it subscribes, until it unsubscribes" do
      SUBSCRIPTIONS.each do |kind, subscribe|
        seen = []
        subscriber = subscribe.call(seen)
        store.write("a", 1)
        assert_equal [WRITE], seen, kind
        ActiveSupport::Notifications.unsubscribe(subscriber)
        store.write("a", 1)
        assert_equal [WRITE], seen, kind
        FastPath.check
        assert_equal EVERY, taken, kind
      end
    end

    test "unsubscribing by name is seen" do
      seen = []
      ActiveSupport::Notifications.subscribe("cache_write.active_support") { seen << 1 }
      store.write("a", 1)
      ActiveSupport::Notifications.unsubscribe("cache_write.active_support")
      store.write("a", 1)
      FastPath.check
      assert_equal [[1], EVERY], [seen, taken]
    end

    test "a name taken out of a Regexp's is not heard of, the others are" do
      seen = []
      subscriber = ActiveSupport::Notifications.subscribe(/cache_(?:read|write)\./) { |name, *| seen << name }
      ActiveSupport::Notifications.unsubscribe("cache_write.active_support")
      store.write("a", 1)
      store.read("a")
      assert_equal ["cache_read.active_support"], seen
    ensure
      ActiveSupport::Notifications.unsubscribe(subscriber)
    end

    test "subscribed hears during its block, also where that raises" do
      events = events_of { store.fetch("a") { 1 } }
      assert_equal %w[read generate write], (events.map { |event| event.name[/cache_(\w+)/, 1] })
      assert_raises(RuntimeError) { events_of { raise "out" } }
      FastPath.check
      assert_equal EVERY, taken
    end

    test "a replaced notifier is asked" do
      before = ActiveSupport::Notifications.notifier
      seen = []
      ActiveSupport::Notifications.notifier = ActiveSupport::Notifications::Fanout.new
      assert_equal EVERY, taken
      ActiveSupport::Notifications.subscribe("cache_read.active_support") { seen << 1 }
      store.read("a")
      assert_equal [1], seen
      ActiveSupport::Notifications.notifier = before
      FastPath.check
      assert_equal EVERY, taken
    ensure
      ActiveSupport::Notifications.notifier = before
    end

    test "a notifier of another class is always told" do
      before = ActiveSupport::Notifications.notifier
      ActiveSupport::Notifications.notifier = Class.new(ActiveSupport::Notifications::Fanout).new
      FastPath.check
      assert_equal Larder::Store::Keys::INSTRUMENTS_KEYS ? EVERY : [], taken # in C, within Rails' events
    ensure
      ActiveSupport::Notifications.notifier = before
    end

    test "subscribing from another thread in the middle of a fetch is heard by its write" do
      seen = []
      subscriber = nil
      store.fetch("a") do
        Thread.new { subscriber = ActiveSupport::Notifications.subscribe(/cache_/) { |name, *| seen << name } }.join
        1
      end
      assert_equal ["cache_write.active_support"], seen
    ensure
      ActiveSupport::Notifications.unsubscribe(subscriber)
    end

    # ---- time ----

    LATER = Time.utc(2035, 1, 1)

    # Does the store go by a stubbed Time.now? An entry of a minute is written before the block, and gone in it.
    def travels?
      store.write("a", 1, expires_in: 60)
      yield -> { [store.read("a"), store.exist?("a"), store.read_multi("a")] == [nil, false, {}] }
    end

    test "travel_to, freeze_time and travel_back" do
      travels? do |gone|
        travel_to(LATER) { assert gone.call }
        store.write("c", 1, expires_in: 60)
        assert_equal 1, store.read("c")
        travel(61) { assert_nil store.read("c") }
      end
      freeze_time
      store.write("d", 1, expires_in: 0.001)
      assert_equal 1, store.read("d")
      travel_back
      sleep(0.002)
      assert_nil store.read("d")
    end

    test "Time.stub of Minitest" do
      require "minitest/mock"
      travels? do |gone|
        Time.stub(:now, LATER) { assert gone.call }
      end
    end

    test "a singleton method, and its removal" do
      assert(in_child do
        travels? do |gone|
          later = LATER
          Time.define_singleton_method(:now) { later }
          gone.call
        end
      end)
    end

    test "an alias chain, as gems that freeze time make it" do
      assert(in_child do
        travels? do |gone|
          later = LATER
          Time.singleton_class.class_eval do
            alias_method :now_without_mock, :now
            define_method(:now) { later }
          end
          gone.call
        end
      end)
    end

    test "a module prepended to Time, filled before or after" do
      assert(in_child do
        travels? do |gone|
          Time.singleton_class.prepend(Module.new { def now = LATER })
          gone.call
        end
      end)
      assert(in_child do
        travels? do |gone|
          late = Module.new
          Time.singleton_class.prepend(late)
          late.define_method(:now) { LATER }
          gone.call
        end
      end)
    end

    test "the clock's own time is taken again afterwards" do
      travel_to(LATER) { store.write("a", 1, expires_in: 60) }
      assert_in_delta LATER.to_f + 60, Larder::Store::Records.new(store.cache).get_entry("a", nil)[1], 0.01
      store.write("a", 1, expires_in: 60)
      assert_in_delta Time.now.to_f + 60, Larder::Store::Records.new(store.cache).get_entry("a", nil)[1], 10
    end

    # ---- silence ----

    test "silenced stores log nothing and are quick, others are not" do
      quiet = new_store.silence!
      text = log_of do
        assert_equal EVERY, taken(quiet)
        assert_empty taken
        store.mute { assert_equal EVERY, taken }
      end
      assert_includes text, "Cache write: a"
    end
  end
end
