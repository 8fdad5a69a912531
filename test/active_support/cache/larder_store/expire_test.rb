# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # `expire`: an entry whose time ends now, and that is kept as one that has expired by itself.
  class ExpireTest < StoreCase
    LIFE = { expires_in: 300, stale_while_revalidate: 60, stale_if_error: 600 }.freeze
    POINT = Struct.new(:x)

    setup { freeze_time }
    teardown { assert Larder::Store::Refreshes.await(30) }

    # Asks for the answer of a block that raises.
    def after_error(key, cache: store, **options)
      cache.fetch(key, **options) { raise IOError }
    rescue IOError
      :raised
    end

    on_both_paths "calls without an option for old values miss it at once" do
      [LIFE, LIFE.merge(expires_in: nil)].each do |options|
        store.write("key", "old", **options)
        assert_same true, store.expire("key", **options)
        assert_nil store.read("key")
        refute store.exist?("key")
        assert_equal({}, store.read_multi("key"))
        assert_equal "new", store.fetch("key") { "new" }
      end
    end

    on_both_paths "others have it for the time of their options, from now on" do
      [LIFE, LIFE.merge(expires_in: nil), LIFE.merge(expires_in: 5)].each do |options|
        ["text", "long " * 40_000, { "a" => [1] }, POINT.new(2), nil, "ä" * 3000].each_with_index do |value, number|
          key = "key #{number}"
          store.write(key, value, **options)
          store.expire(key, **options)
          assert_equal [value], [after_error(key, stale_if_error: 600)]
        end
      end
    end

    on_both_paths "and no longer, whatever time the entry had left" do
      [LIFE, LIFE.merge(expires_in: nil), LIFE.merge(expires_in: 5)].each do |options|
        %w[a b c].each { |key| store.write(key, "old", **options) && store.expire(key, **options) }
        travel 590.seconds
        assert_equal :raised, after_error("a", stale_if_error: 60)
        assert_equal "old", after_error("b", stale_if_error: 600)
        travel 11.seconds
        assert_equal :raised, after_error("c", stale_if_error: 600)
        travel_back
        freeze_time
      end
    end

    on_both_paths "the next caller has it computed again, and all are served" do
      store.write("key", "old", **LIFE)
      store.expire("key")
      assert_equal("old", store.fetch("key", **LIFE) { "new" })
      assert Larder::Store::Refreshes.await(30)
      assert_equal "new", store.read("key")
    end

    on_both_paths "an entry that was stored without such an option is deleted" do
      [{}, { expires_in: 60 }, { expires_in: 60, race_condition_ttl: 60 }, { tags: "red" }].each do |options|
        store.write("key", "old", **options)
        assert_same true, store.expire("key")
        assert_equal :raised, after_error("key", stale_if_error: 600)
        assert_equal "new", store.fetch("key", **options) { "new" }
        store.delete("key")
      end
      store.increment("count")
      assert store.expire("count")
      assert_equal 1, store.increment("count")
    end

    on_both_paths "false: it is absent, or has expired already, and stays as it is" do
      assert_same false, store.expire("key")
      store.write("key", "old", **LIFE)
      travel 310.seconds
      assert_same false, store.expire("key")
      assert_equal "old", after_error("key", **LIFE)
    end

    on_both_paths "tags and versions stay" do
      [LIFE, LIFE.merge(expires_in: nil)].each do |options|
        %w[a b].each do |key|
          store.write(key, "old", tags: "red", version: "1", **options)
          assert store.expire(key, **options)
        end
        assert_equal :raised, after_error("a", stale_if_error: 600, version: "2")
        assert_equal "old", after_error("a", stale_if_error: 600, version: "1")
        store.delete_tagged("red")
        assert_equal :raised, after_error("b", stale_if_error: 600, version: "1")
      end
    end

    on_both_paths "a value that is being computed is not stored, with and without an old one" do
      [{}, { expires_in: 300, stale_if_error: 600 }].each do |options|
        compute = -> { store.fetch("key", single_flight: true, **options) { store.expire("key").then { "late" } } }
        assert_equal "late", compute.call
        assert_nil store.read("key")
        store.write("key", "old", **LIFE)
        travel 400.seconds
        assert_equal "late", compute.call
        assert_nil store.read("key")
        store.delete("key")
      end
    end

    on_both_paths "nor one that the pool computes, and the old one is kept" do
      store.write("key", "old", **LIFE)
      travel 310.seconds
      assert_equal("old", store.fetch("key", **LIFE) { store.expire("key").then { "late" } })
      assert Larder::Store::Refreshes.await(30)
      assert_nil store.read("key")
      assert_equal "old", after_error("key", **LIFE)
    end

    on_both_paths "one that waits for the value computes it itself" do
      entered, go = Queue.new, Queue.new
      first = Thread.new { store.fetch("key", single_flight: true) { entered << 1 and go.pop } }
      entered.pop
      second = Thread.new { store.fetch("key", single_flight: true, wait: 30) { "second" } }
      assert(eventually { store.stats[:waits].positive? })
      store.expire("key")
      assert_equal "second", second.value
      go << "first"
      assert_equal "first", first.value
      assert_equal "second", store.read("key")
    end

    on_both_paths "keys, namespaces and events are as those of delete" do
      store.write(["a", 1], "old", namespace: "shop", **LIFE)
      store.expire(["a", 1])
      assert store.exist?(["a", 1], namespace: "shop")
      events = events_of { store.expire(["a", 1], namespace: "shop") }
      refute store.exist?(["a", 1], namespace: "shop")
      assert_equal(["cache_expire.active_support"], events.map(&:name))
      assert_equal "shop:a/1", events.first.payload[:key]
    end

    test "a file that cannot be used is reported, and the entry is deleted" do
      errors = []
      cache = new_store(error_handler: ->(**error) { errors << error })
      cache.write("key", "old", **LIFE)
      cache.cache.close
      assert_same false, cache.expire("key")
      assert_equal [:expire], errors.map { |error| error[:method] }.uniq
    end
  end
end
