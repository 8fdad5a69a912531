# frozen_string_literal: true

# Processes that only change entries: they listen as those that read do, and repair what was not told or not applied.

require "support/backplane_case"

module LarderStore
  # A backplane and a remote store of two servers.
  class BackplaneWritersTest < BackplaneCase
    # Calls that change the key "k", or all keys.
    CHANGES = { "write" => [:write, "k", "new"], "delete" => [:delete, "k"], "delete_multi" => [:delete_multi, ["k"]],
                "write_multi" => [:write_multi, { "k" => "new" }], "clear" => [:clear],
                "increment" => [:increment, "k"], "delete_tagged" => [:delete_tagged, "tag"],
                "delete_matched" => [:delete_matched, "k*"] }.freeze

    setup { @far = start("redis") }

    CHANGES.each do |name, call|
      test "a process that only calls #{name} repairs a message that was lost" do
        two = listening("two", remote: far)
        two.write("k", "old", tags: "tag")
        one = peer("one", remote: far)
        one.call(:delete, "other")
        far_store.delete("k") # as if evicted, so that a counter begins
        refusing_to_publish { one.call(*call) }
        assert(eventually { two.read("k") != "old" })
      end
    end

    test "if a process is killed before it could send a message, another one of its machine does, or the next" do
      two = listening("two", remote: far)
      2.times do |number|
        two.write("k", "old")
        one = peer("one", remote: far)
        other = peer("one", remote: far).tap { |made| made.call(:write, "other", 1) } if number.zero?
        refusing_to_publish do
          one.call(:write, "k", "new")
          one.kill
        end
        peer("one", remote: far).call(:write, "other", 1) unless other
        assert(eventually { two.read("k") == "new" })
      end
    end

    test "a process that only deletes applies what its journal lists, also after a fork, and without a call" do
      one = peer("one", remote: far)
      one.call(:delete, "other")
      [one, forked_peer].each do |process|
        far_store.write("k", "old")
        TestServers.kill(@far)
        process.call(:delete, "k")
        @far.start
        far_store.write("k", "old, of a copy")
        assert(eventually { far_store.read("k").nil? })
      end
    end

    test "the journal is applied while the backplane is down" do
      one = peer("one", remote: far)
      one.call(:delete, "other")
      TestServers.kill(@server)
      TestServers.kill(@far)
      one.call(:delete, "k")
      @far.start
      far_store.write("k", "old, of a copy")
      assert(eventually { far_store.read("k").nil? })
    end

    test "a change in the handler of a signal is reported, and sent later" do
      two = listening("two")
      two.write("k", "old")
      errors = []
      one = listening("one", error_handler: ->(exception:, **) { errors << exception })
      before = trap("USR2") { one.delete("k") }
      Process.kill("USR2", Process.pid)
      assert(eventually { errors.any? })
      assert_equal [Larder::RemoteError], errors.map(&:class).uniq
      assert(eventually { two.read("k").nil? })
    ensure
      trap("USR2", before || "DEFAULT")
    end

    private

    def far
      [:redis_cache_store, { url: @far.endpoint.fetch("url"), reconnect_attempts: 0 }]
    end

    # As another machine without Larder.
    def far_store
      ActiveSupport::Cache.lookup_store([far.first, { **far.last, coder: Larder::Coder.new }])
    end

    # A process whose parent has changed something.
    def forked_peer
      store = machine("two", remote: far)
      store.delete("other")
      Peer.new { store }.tap { |made| @peers << made }
    end

    def refusing_to_publish
      admin = RedisClient.new(path: @server.endpoint.fetch("socket"))
      admin.call("ACL", "SETUSER", "default", "-publish")
      yield
    ensure
      admin.call("ACL", "SETUSER", "default", "+publish")
      admin.close
    end
  end
end
