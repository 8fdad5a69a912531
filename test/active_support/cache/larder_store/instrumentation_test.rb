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

    test "a block that raises is announced with its exception" do
      events = announced { assert_raises(IOError) { store.fetch("key") { raise IOError, "broken" } } }
      assert_equal %w[read generate], events.map(&:first)
      assert_equal ["IOError", "broken"], events[1].last[:exception]
    end
  end
end
