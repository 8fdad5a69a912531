# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # What ActiveSupport::Notifications is told: names and payloads are Rails'.
  class InstrumentationTest < StoreCase
    STORE = "ActiveSupport::Cache::LarderStore"
    # Rails 7.1 announced names, 8.0 and later announce the keys of multi forms too.
    KEYS = ActiveSupport.gem_version >= Gem::Version.new("7.2.0.alpha")
    MULTI_KEYS = ActiveSupport.gem_version >= Gem::Version.new("8.0.0.alpha")

    # @return [Array<Array(String, Hash)>] short names of the events and their payloads
    def announced(&block)
      events_of(&block).map { |event| [event.name[/\Acache_(.*)\.active_support\z/, 1], event.payload] }
    end

    def names_of(&block)
      announced(&block).map(&:first)
    end

    def key(name, namespace = "n")
      KEYS ? "#{namespace}:#{name}" : name
    end

    test "a read tells whether it hit" do
      cache = new_store(namespace: "n")
      cache.write("key", 1)
      (hit, miss) = announced { cache.read("key") && cache.read("other") }

      assert_equal "read", hit.first
      assert_equal [key("key"), STORE, true, "n"], hit.last.values_at(:key, :store, :hit, :namespace)
      assert_equal [key("other"), false], miss.last.values_at(:key, :hit)
    end

    test "a fetch that hits announces a read and a hit" do
      store.write("key", 1)
      events = announced { store.fetch("key", expires_in: 5) { 2 } }
      assert_equal %w[read fetch_hit], events.map(&:first)
      assert_equal [true, :fetch, 5], events[0].last.values_at(:hit, :super_operation, :expires_in)
      assert_equal STORE, events[1].last[:store]
    end

    test "a fetch that misses announces a read, the block and a write" do
      events = announced { store.fetch("key") { 2 } }
      assert_equal %w[read generate write], events.map(&:first)
      assert_equal [false, :fetch], events[0].last.values_at(:hit, :super_operation)
      assert_equal(%w[key key key], events.map { |_, payload| payload[:key] })
    end

    test "write, delete and exist? are announced" do
      events = announced do
        store.write("key", 1, expires_in: 5)
        store.exist?("key")
        store.delete("key")
      end
      assert_equal %w[write exist? delete], events.map(&:first)
      assert_equal(%w[key key key], events.map { |_, payload| payload[:key] })
      assert_equal 5, events[0].last[:expires_in]
    end

    test "the multi forms are announced once" do
      events = announced do
        store.write_multi({ "a" => 1, "b" => 2 })
        store.read_multi("b", "c")
        store.delete_multi(["a"])
      end
      assert_equal %w[write_multi read_multi delete_multi], events.map(&:first)
      assert_equal({ "a" => 1, "b" => 2 }, events[0].last[:key])
      assert_equal [%w[b c], %w[b]], events[1].last.values_at(:key, :hits)
      assert_equal %w[a], events[2].last[:key]
    end

    test "multi forms in a namespace announce what this Rails announces" do
      cache = new_store(namespace: "n")
      cache.write("a", 1)
      (event,) = announced { cache.read_multi("a", "b") }
      expected = MULTI_KEYS ? [%w[n:a n:b], %w[n:a]] : [%w[a b], %w[a]]
      assert_equal expected, event.last.values_at(:key, :hits)
    end

    test "fetch_multi announces its hits as fetch_multi" do
      store.write("a", 1)
      events = announced { store.fetch_multi("a", "b") { 2 } }
      assert_equal %w[read_multi write_multi], events.map(&:first).sort
      read = events.find { |name, _| name == "read_multi" }.last
      assert_equal [%w[a b], %w[a], :fetch_multi], read.values_at(:key, :hits, :super_operation)
    end

    test "counters are announced with their amount" do
      cache = new_store(namespace: "n")
      events = announced { cache.increment("a", 2) && cache.decrement("a") }
      assert_equal %w[increment decrement], events.map(&:first)
      assert_equal [[key("a"), 2, STORE], [key("a"), 1, STORE]],
                   (events.map { |_, payload| payload.values_at(:key, :amount, :store) })
    end

    test "the amount is announced as it was given, also where it cannot be counted" do
      events = announced do
        store.increment("a", 1.9)
        assert_raises(ArgumentError) { store.decrement("a", "one") }
      end
      assert_equal [["increment", 1.9, nil], ["decrement", "one", ArgumentError]],
                   (events.map { |name, payload| [name, payload[:amount], payload[:exception_object]&.class] })
    end

    test "delete_matched is announced with its pattern" do
      cache = new_store(namespace: "n")
      events = announced { cache.delete_matched(/foo/) && cache.delete_matched("foo*") }
      assert_equal %w[delete_matched delete_matched], events.map(&:first)
      assert_equal [KEYS ? "/^n:.*foo/" : "/foo/", key("foo*")], (events.map { |_, payload| payload[:key] })
    end

    test "cleanup and prune are announced with sizes" do
      store.write_multi({ "a" => 1, "b" => 2 })
      events = announced { store.cleanup && store.prune(0) }
      assert_equal %w[cleanup cleanup prune], events.map(&:first)
      assert_equal [2, STORE], events[0].last.values_at(:size, :store)
      assert_equal [0, Integer], [events[2].last[:key], events[2].last[:from].class]
    end

    test "a listener that comes and goes is heard while it is there" do
      assert_equal %w[read], (names_of { store.read("key") })
      store.read("key")
      assert_equal %w[read], (names_of { store.read("key") })
    end

    # @return [Array<ActiveSupport::Notifications::Event>] of Larder's own, also of blocks that run later
    def own_events(&block)
      events = Queue.new
      ActiveSupport::Notifications.subscribed(->(event) { events << event }, /\.larder\z/) do
        block.call
        assert Larder::Store::Refreshes.await(LONGEST)
      end
      Array.new(events.size) { events.pop }
    end

    on_both_paths "each caller that gets an expired value sends stale.larder, and the pool refresh.larder" do
      cache, options = new_store(namespace: "n"), { expires_in: 10, stale_while_revalidate: 60 }
      cache.fetch("key", options) { "old" }
      travel 11.seconds do
        gate = Queue.new
        events = own_events do
          3.times { assert_equal("old", cache.fetch("key", options) { gate.pop && "new" }) }
          gate << true
        end
        assert_equal [*["stale.larder"] * 3, "refresh.larder"], events.map(&:name)
        assert_equal ["n:key", STORE, 10, :stale_while_revalidate],
                     events.first.payload.values_at(:key, :store, :expires_in, :reason)
        assert_equal ["n:key", STORE, nil], events.last.payload.values_at(:key, :store, :exception)
        assert_equal "new", cache.read("key")
      end
    end

    on_both_paths "an error is in the refresh's event, and what it leaves is stale by stale_if_error" do
      options = { expires_in: 10, stale_while_revalidate: 5, stale_if_error: 60 }
      store.fetch("key", options) { "old" }
      travel(11.seconds) do
        events = own_events { store.fetch("key", options) { raise IOError, "down" } }
        assert_equal [["stale.larder", nil], ["refresh.larder", ["IOError", "down"]]],
                     (events.map { |event| [event.name, event.payload[:exception]] })
      end
      travel(30.seconds) do
        (event, more) = own_events { assert_equal("old", store.fetch("key", options) { raise IOError }) }
        assert_equal [:stale_if_error, nil], [event.payload[:reason], more]
      end
    end

    on_both_paths "a view's read that gets an expired value sends stale.larder" do
      options = { stale_while_revalidate: 60 }
      store.write("key", "old", expires_in: 10, **options)
      travel 11.seconds do
        assert_empty(own_events { store.read("key", options) })
        events = own_events { Thread.new { store.read("key", options) }.join }
        assert_equal [["stale.larder", "key"]], (events.map { |event| [event.name, event.payload[:key]] })
      end
      Larder::Store::Flights.end_work
    end

    on_both_paths "a caller that waits sends wait.larder, and compute_alone.larder if its patience ends" do
      begun, open = Queue.new, Queue.new
      owner = Thread.new { store.fetch("key", single_flight: true) { begun << true && open.pop } }
      begun.pop
      events = own_events do
        store.fetch("key", single_flight: true, wait: 0.3) { "own" }
        store.fetch("key", single_flight: true, wait: 0) { "own" }
        waiter = Thread.new { store.fetch("key", single_flight: true, wait: 60) { flunk } }
        Thread.pass until waiter.stop?
        open << "theirs"
        assert_equal "theirs", waiter.value
      end
      owner.join
      assert_equal ["wait.larder", false, nil], [events[0].name, *events[0].payload.values_at(:hit, :waited)]
      assert_operator events[0].duration, :>, 0
      assert_equal([["compute_alone.larder", true], ["compute_alone.larder", false]],
                   events[1..2].map { |event| [event.name, event.payload[:waited]] })
      assert_equal([["wait.larder", true, "key", STORE]],
                   events.drop(3).map { |event| [event.name, *event.payload.values_at(:hit, :key, :store)] })
    end

    on_both_paths "a miss and a hit send no event of Larder's own" do
      options = { expires_in: 10, single_flight: true, stale_while_revalidate: 60, stale_if_error: 60 }
      assert_empty(own_events { 2.times { store.fetch("key", options) { 1 } } })
    end

    test "a block that raises is announced with its exception" do
      events = announced { assert_raises(IOError) { store.fetch("key") { raise IOError, "broken" } } }
      assert_equal %w[read generate], events.map(&:first)
      assert_equal ["IOError", "broken"], events[1].last[:exception]
    end
  end
end
