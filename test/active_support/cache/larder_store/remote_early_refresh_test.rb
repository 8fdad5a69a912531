# frozen_string_literal: true

# `early_refresh:` with `remote:`: copies have the time that their values took to compute.

require "support/remote_case"
require "redis"

module LarderStoreTests
  class RemoteEarlyRefreshTest < RemoteCase
    OPTIONS = { expires_in: 100, early_refresh: true }.freeze
    SLOW = proc { sleep(0.2) && "slow" }
    LOOKS = 300

    setup do
      @server = start("redis")
      @one, @two = %w[one two].map { |name| machine(name, local_expires_in: 5) }
      freeze_time
    end

    teardown { assert Larder::Store::Refreshes.await(30) }

    def remote
      [:redis_cache_store, { url: @server.endpoint["url"] }]
    end

    # True if some of many callers compute the value again early, shortly before it expires.
    def early?(store, key = "key")
      LOOKS.times.any? { store.level.early?(key) }
    end

    WAYS = [{}, { single_flight: true }, { stale_if_error: 60 }, { tags: "red" }, { namespace: "shop" },
            { race_condition_ttl: 5 }].freeze

    on_both_paths "the last copy of an entry has the time, and others have none" do
      WAYS.each do |more|
        options = { **OPTIONS, **more }
        key = more[:namespace] ? "shop:key" : "key"
        @one.fetch("key", **options, &SLOW)
        travel 4.9.seconds, with_usec: true
        refute early?(@one, key), "a copy that ends before the entry, with #{more}"
        travel 94.9.seconds, with_usec: true
        @one.fetch("key", **options) { flunk }
        assert early?(@one, key), more
        @one.delete("key", **more.slice(:namespace))
        travel_back
        freeze_time
      end
    end

    on_both_paths "the values of fetch_multi have the time, also if they expire before their copies would" do
      WAYS.each do |more|
        options = { **OPTIONS, **more, expires_in: 4 }
        assert_equal({ "a" => "slow", "b" => "slow" }, @one.fetch_multi("a", "b", **options, &SLOW))
        travel 3.9.seconds, with_usec: true
        assert early?(@one, more[:namespace] ? "shop:b" : "b"), more
        @one.clear
        travel_back
        freeze_time
      end
    end

    on_both_paths "the value is computed again before it expires, and other machines have the new one" do
      @one.fetch("key", **OPTIONS, &SLOW)
      travel 99.8.seconds, with_usec: true
      LOOKS.times { @one.fetch("key", **OPTIONS) { "new" } }
      assert Larder::Store::Refreshes.await(30)
      travel 1.second
      assert_equal %w[new new], [@one.read("key"), @two.read("key")]
    end

    on_both_paths "a value that is written, or that another machine computed, has no time" do
      @one.fetch("key", **OPTIONS, &SLOW)
      travel 0.1.seconds, with_usec: true
      @one.write("key", "written", **OPTIONS)
      travel 99.8.seconds, with_usec: true
      assert_equal("written", @one.fetch("key", **OPTIONS) { flunk })
      refute early?(@one)
      @two.fetch("other", **OPTIONS, &SLOW)
      travel 99.8.seconds, with_usec: true
      @one.fetch("other", **OPTIONS) { flunk }
      refute early?(@one, "other")
    end

    test "so it is with fetch_multi" do
      @one.fetch_multi("a", "b", **OPTIONS) { |key| key == "a" ? SLOW.call : 1 }
      travel 99.8.seconds, with_usec: true
      @one.fetch_multi("a", "b", **OPTIONS) { flunk }
      assert_equal([true, false], %w[a b].map { |key| early?(@one, key) })
    end
  end
end
