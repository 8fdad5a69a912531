# frozen_string_literal: true

# `expire` with `remote:`, for machines that share a Redis and a backplane.

require "support/remote_case"
require "support/trips"
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

    def remote(**user)
      Redis.new(url: @server.endpoint["url"])
           .call("ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", "-@scripting")
      [:redis_cache_store, { url: @server.endpoint["url"], **user }]
    end

    # Expires an entry, and has another machine change it before one of the calls of the remote store. Then it does so
    # before another one, and so on.
    def at_each_call(store, other, change, *arguments)
      before = nil
      store.remote.singleton_class.prepend(Module.new do
        define_method(:attempt) do |method, &block|
          before&.call
          super(method, &block)
        end
      end)
      (0..).each do |number|
        other.write("key", "old", **LIFE)
        left = number
        before = -> { other.public_send(change, "key", *arguments) if (left -= 1) == -1 }
        store.expire("key", **LIFE)
        before = nil
        other.public_send(change, "key", *arguments) unless left.negative? # after the last call
        yield
        break assert_operator number, :>, 1 unless left.negative?
      end
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

    on_both_paths "a tag that is deleted wins" do
      @one.write("key", "old", tags: "red", **LIFE)
      @one.expire("key", **LIFE)
      @two.delete_tagged("red")
      assert_equal :raised, after_error(@one, **LIFE)
    end

    { "a Redis" => {},
      "a Redis that runs no scripts" => { username: "plain", password: "secret" } }.each do |name, user|
      test "a value that another machine deletes at any moment of it does not come back, over #{name}" do
        store = machine("three", remote: remote(**user))
        at_each_call(store, @two, :delete) { assert_nil store.remote.read("key") }
      end
    end

    test "so it is over other stores, if all their fetches take leases" do
      store, other = %w[three four].map do |name|
        machine(name, remote: [:file_store, path_of("files")], single_flight: true)
      end
      at_each_call(store, other, :delete) { assert_nil store.remote.read("key") }
    end

    test "a value that another machine writes at any moment of it is not replaced by the older one" do
      store = machine("three")
      at_each_call(store, @two, :write, "new", **LIFE) do
        assert_includes ["new", nil], store.remote.read("key")&.value
      end
    end

    test "it takes two calls of a Redis" do
      2.times { @one.write("key", "old", **LIFE) && @one.expire("key", **LIFE) } # Redis knows the scripts
      @one.write("key", "old", **LIFE)
      assert_equal [2, 1], Trips.count { @one.expire("key", **LIFE) }
    end

    test "a value whose class is gone is deleted" do
      self.class.const_set(:Gone, Struct.new(:x))
      @one.write("key", Gone.new(1), **LIFE)
      self.class.send(:remove_const, :Gone)
      assert_same true, @one.expire("key", **LIFE)
      assert_nil @one.remote.read("key")
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
