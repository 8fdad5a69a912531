# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # The second argument of the block of `fetch`: tags that the block sets, and the value that it replaces.
  class WriteOptionsTest < StoreCase
    # Each takes another way through the store.
    WAYS = { plain: {}, tagged: { tags: "other" }, single: { single_flight: true }, kept: { stale_if_error: 60 },
             both: { single_flight: true, stale_while_revalidate: 60 }, named: { namespace: "shop" },
             raced: { expires_in: 60, race_condition_ttl: 5 }, soft: { stale_if_error: 60, soft_timeout: 5 } }.freeze
    LIFE = { expires_in: 60, stale_while_revalidate: 60, stale_if_error: 600 }.freeze

    teardown do
      assert Larder::Store::Refreshes.await(30)
      Larder::Store::Flights.end_work
    end

    def tagged(key, tags, **options)
      store.fetch(key, **options) do |_, write|
        yield write if block_given?
        write.tags = tags
        "value"
      end
    end

    on_both_paths "an entry goes with the tags that its block has set" do
      WAYS.each do |way, options|
        assert_equal "value", tagged(way, ["red", :round], **options), way
        assert_equal "value", store.read(way, **options.slice(:namespace)), way
        store.delete_tagged("other")
        assert store.exist?(way, **options.slice(:namespace)), way
        store.delete_tagged(:round)
        refute store.exist?(way, **options.slice(:namespace)), way
      end
    end

    on_both_paths "a tag that is deleted while the block runs deletes the value, also before the block has set it" do
      WAYS.each do |way, options|
        assert_equal "value", tagged(way, "red", **options) { store.delete_tagged("red") }, way
        refute store.exist?(way, **options.slice(:namespace)), way
        assert_equal "value", tagged(way, "red", **options), way
        assert store.exist?(way, **options.slice(:namespace)), way
      end
    end

    on_both_paths "a clear while the block runs concerns a value with tags" do
      tagged("key", "red") { store.clear }
      refute store.exist?("key")
      tagged("key", "red", namespace: "shop") { store.clear(namespace: "shop") }
      refute store.exist?("key", namespace: "shop")
    end

    on_both_paths "a tag of another process, and one within a block in a block" do
      tagged("key", "red") { in_child { store.delete_tagged("red") } }
      refute store.exist?("key")
      tagged("outer", "red") do
        tagged("inner", "red")
        store.delete_tagged("blue")
        tagged("late", "blue")
      end
      assert_equal(%w[inner late outer], %w[inner late outer].select { |key| store.exist?(key) })
      store.delete_tagged("red")
      assert_equal(%w[late], %w[inner late outer].select { |key| store.exist?(key) })
    end

    on_both_paths "the block sees the tags of the call, and may add to them, or leave none" do
      store.fetch("more", tags: "red") { |_, options| options.tags = [options.tags, "blue"] }
      store.fetch("none", tags: "red") { |_, options| options.tags = nil }
      store.delete_tagged("blue")
      refute store.exist?("more")
      store.delete_tagged("red")
      assert store.exist?("none")
    end

    on_both_paths "an object that cannot be a tag is an error of the caller, and nothing is stored" do
      [{}, { stale_if_error: 60 }, { single_flight: true }].each do |options|
        assert_raises(ArgumentError) { tagged("key", Object.new, **options) }
        refute store.exist?("key")
      end
      assert_nil(store.fetch("nil", skip_nil: true) { |_, options| (options.tags = "red") && nil })
      refute store.exist?("nil")
    end

    on_both_paths "a value that is computed again has the tags of its block, and those of its namespace" do
      freeze_time
      [{}, { namespace: "shop" }].each do |space|
        compute = ->(_, options) { options.tags = "red" }
        store.fetch("key", **LIFE, **space, &compute)
        travel 70.seconds
        store.fetch("key", **LIFE, **space, &compute)
        assert Larder::Store::Refreshes.await(30)
        assert store.exist?("key", **space)
        space.empty? ? store.delete_tagged("red") : store.clear(**space)
        refute store.exist?("key", **space)
        store.fetch("key", **LIFE, **space, &compute)
        travel 70.seconds
        store.fetch("key", **LIFE, **space) { |_, options| store.delete_tagged("red") && (options.tags = "red") }
        assert Larder::Store::Refreshes.await(30)
        refute store.exist?("key", **space)
      end
    end

    test "a patched WriteOptions.new of Rails is called as Rails calls it" do
      found = in_child do
        ActiveSupport::Cache::WriteOptions.define_singleton_method(:new) { |given| super(given) }
        tagged("key", "red").then { store.delete_tagged("red") && store.read("key") }
      end
      assert_nil found
    end

    # ---- the old value ----

    on_both_paths "a block knows the value that it replaces, and for how long that has expired" do
      freeze_time
      store.write("key", "old", **LIFE)
      seen = nil
      look = ->(_, options) { seen = [options.stale_value, options.stale_age] }
      travel 70.seconds
      store.fetch("key", **LIFE, &look) # in the pool
      assert Larder::Store::Refreshes.await(30)
      assert_equal ["old", 10.0], seen
      [{}, { single_flight: true }, { soft_timeout: 5 }, { soft_timeout: 5, single_flight: true }].each do |more|
        store.write("key", "old", **LIFE)
        travel 200.seconds # too old to be served at once
        store.fetch("key", **LIFE, **more, &look)
        assert_equal ["old", 140.0], seen, more
      end
      store.fetch("key", force: true, **LIFE, &look) # which is fresh
      assert_equal [["old", 140.0], 0.0], seen
    end

    on_both_paths "there is no old value where none may be the answer" do
      freeze_time
      { "absent" => -> {}, "deleted" => -> { store.delete("key") }, "tagged" => -> { store.delete_tagged("red") },
        "too old" => -> { travel 601.seconds } }.each do |state, change|
        store.write("key", "old", tags: "red", **LIFE) unless state == "absent"
        travel 61.seconds
        change.call
        seen = :none
        store.fetch("key", stale_if_error: 600) do |_, options|
          (seen = [options.stale_value, options.stale_age]) && options.tags = "x"
        end
        assert_equal [nil, nil], seen, state
        store.delete("key")
      end
    end

    on_both_paths "nor of another version, nor for a call that takes no expired value, nor a counted nil" do
      freeze_time
      store.write("key", "old", version: "1", **LIFE)
      store.fetch("key", version: "2", **LIFE) { |_, options| assert_nil options.stale_value }
      store.write("plain", "old", **LIFE)
      store.write("raced", "old", expires_in: 60, race_condition_ttl: 60)
      store.write("nil", nil, **LIFE)
      travel 200.seconds
      %w[plain raced].each { |key| store.fetch(key) { |_, options| assert_nil options.stale_age } }
      store.fetch("nil", **LIFE) { |_, options| assert_equal [nil, 140.0], [options.stale_value, options.stale_age] }
    end

    on_both_paths "an early refresh knows the value, which has not expired" do
      freeze_time
      options = { expires_in: 0.3, early_refresh: true }
      store.fetch("slow", **options) { sleep(0.2) && "old" }
      seen = nil
      300.times do
        store.fetch("slow", **options) { |_, write| (seen = [write.stale_value, write.stale_age]) && "new" }
        break if Larder::Store::Refreshes.await(30) && seen
      end
      assert_equal ["old", 0.0], seen
    end
  end
end
