# frozen_string_literal: true

# The value that a block replaces, with `remote:`, for machines that share a Redis.

require "support/remote_case"
require "redis"

module LarderStoreTests
  class RemoteStaleValueTest < RemoteCase
    LIFE = { expires_in: 60, stale_while_revalidate: 60, stale_if_error: 600 }.freeze

    setup do
      @server = start("redis")
      @one, @two = %w[one two].map { |name| machine(name, local_expires_in: 5) }
      freeze_time
      @one.write("key", "old", tags: "red", **LIFE)
    end

    teardown { assert Larder::Store::Refreshes.await(30) }

    def remote
      [:redis_cache_store, { url: @server.endpoint["url"] }]
    end

    # @return [Array] the old value and its age, as the block sees them
    def seen(store, **options)
      seen = nil
      store.fetch("key", **LIFE, **options) { |_, write| seen = [write.stale_value, write.stale_age] }
      assert Larder::Store::Refreshes.await(30)
      seen
    end

    on_both_paths "a machine with and one without a copy know it, in the pool and in the caller" do
      [@one, @two].each do |store|
        @one.write("key", "old", **LIFE)
        travel 70.seconds
        assert_equal ["old", 10.0], seen(store)
        [{}, { single_flight: true }, { soft_timeout: 5 }].each do |more|
          @one.write("key", "old", **LIFE)
          travel 200.seconds
          assert_equal ["old", 140.0], seen(store, **more), more
        end
      end
    end

    on_both_paths "a value that is fresh in the remote store is known with force" do
      assert_equal ["old", 0.0], seen(@two, force: true)
    end

    on_both_paths "there is none of what was deleted by another machine, and of one that has expired" do
      travel 200.seconds
      @one.delete_tagged("red")
      assert_equal [nil, nil], seen(@two)
      @one.write("key", "old", **LIFE)
      travel 200.seconds
      @one.delete("key")
      assert_equal [nil, nil], seen(@two)
      @one.write("key", "old", **LIFE)
      @one.expire("key", **LIFE)
      travel 6.seconds # the copy of the other machine has ended
      assert_equal ["old", 6.0], seen(@two)
    end
  end
end
