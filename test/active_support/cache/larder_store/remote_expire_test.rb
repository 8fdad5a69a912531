# frozen_string_literal: true

# `expire` with `remote:`, for machines that share a Redis and a backplane.

require "support/remote_case"
require "redis"

module LarderStoreTests
  class RemoteExpireTest < RemoteCase
    LIFE = { expires_in: 300, stale_while_revalidate: 30, stale_if_error: 600 }.freeze

    setup do
      @server = start("redis")
      @one, @two = %w[one two].map { |name| machine(name, backplane: @server.endpoint["url"], local_expires_in: 600) }
      @two.read("other") # listens
      assert(eventually { @two.level.trusted? && @one.read("other").nil? && @one.level.trusted? })
    end

    teardown { assert Larder::Store::Refreshes.await(30) }

    def remote
      [:redis_cache_store, { url: @server.endpoint["url"] }]
    end

    # Until the second machine has got all messages of the first.
    def await_messages
      last = @two.read("last").to_i
      @one.write("last", last + 1)
      assert(eventually { @two.read("last") == last + 1 })
    end

    # Asks for the answer of a block that raises.
    def after_error(cache, **options)
      cache.fetch("key", **options) { raise IOError }
    rescue IOError
      :raised
    end

    on_both_paths "copies of all machines expire, and the old value is kept for their blocks" do
      [LIFE, LIFE.merge(expires_in: nil), LIFE.merge(tags: "red"), LIFE.merge(version: "1")].each do |options|
        @one.write("key", "old", **options)
        await_messages
        assert_equal "old", @two.read("key", **options.slice(:version))
        assert_same true, @one.expire("key", LIFE)
        assert_nil @one.read("key")
        assert(eventually { @two.read("key").nil? })
        assert_equal "old", after_error(@two, **options, stale_while_revalidate: nil)
        @one.delete("key")
      end
    end

    on_both_paths "the first caller of a machine has it computed again" do
      @one.write("key", "old", **LIFE)
      @one.expire("key", **LIFE)
      assert_equal("old", @two.fetch("key", **LIFE) { "new" })
      # The message about the change ends the lease of a computation that has begun before it came.
      assert(eventually { @two.fetch("key", **LIFE) { "new" } && @one.read("key") == "new" })
    end

    on_both_paths "a value that another machine computes is not stored" do
      { {} => :raised, LIFE => "old" }.each do |options, left|
        @one.write("key", "old", **options, expires_in: 0.02) unless options.empty?
        sleep(0.05) unless options.empty?
        assert_equal("late", @two.fetch("key", **options, stale_while_revalidate: nil, single_flight: true) do
          @one.expire("key", **options)
          "late"
        end)
        assert_equal [nil, nil], [@one.read("key"), @two.read("key")]
        assert_equal left, after_error(@two, **options, stale_while_revalidate: nil)
        @one.delete("key")
      end
    end

    on_both_paths "without an option that keeps it, it is deleted; false: there was none, or it had expired" do
      assert_same false, @one.expire("key", **LIFE)
      @one.write("key", "old", **LIFE)
      assert_same true, @one.expire("key")
      assert_equal :raised, after_error(@two, **LIFE)
      @one.write("key", "old", **LIFE)
      assert_equal [true, false], Array.new(2) { @one.expire("key", **LIFE) }
      assert_equal "old", after_error(@two, **LIFE)
      @one.increment("count")
      assert @one.expire("count", **LIFE)
      assert_equal 1, @one.increment("count")
    end

    on_both_paths "a tag that is deleted, and a write at the same time, win" do
      @one.write("key", "old", tags: "red", **LIFE)
      @one.expire("key", **LIFE)
      @two.delete_tagged("red")
      assert_equal :raised, after_error(@one, **LIFE)
      @one.write("key", "old", **LIFE)
      @one.remote.store.singleton_class.prepend(Module.new do
        define_method(:write_entry) do |name, entry, **terms|
          super(name, ActiveSupport::Cache::Entry.new("newer"), **terms, unless_exist: false) if terms[:unless_exist]
          super(name, entry, **terms)
        end
      end)
      @one.expire("key", **LIFE)
      assert_equal "newer", @one.read("key")
    end

    test "while the remote store does not answer, this machine serves its old value, and others find none later" do
      @one.write("key", "old", **LIFE)
      @server.stop
      reports_of do
        @one.expire("key", **LIFE)
        assert_nil @one.read("key")
        assert_equal "old", after_error(@one, **LIFE, stale_while_revalidate: nil)
      end
      @server.start
      assert(eventually { caught_up?(@one) })
      assert_equal :raised, after_error(@two, **LIFE)
    end
  end
end
