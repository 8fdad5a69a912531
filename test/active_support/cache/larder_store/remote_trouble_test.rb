# frozen_string_literal: true

# Two levels over a Redis or Valkey that is slow, has no connection left, is full, is read-only or refuses a command.

require "support/remote_case"
require "support/slow_proxy"
require "redis"

module LarderStore
  # What holds over both.
  module RemoteTroubleTests
    extend ActiveSupport::Concern

    included do
      setup do
        @server = start_once(server_name)
        @path = @server.endpoint.fetch("url").delete_prefix("unix://")
        ask("FLUSHALL")
        @proxy = SlowProxy.new(@path)
        @one, @two = machine("one"), machine("two")
        @one.write("k", "old")
        @two.read("k")
      end

      teardown do
        @proxy&.stop
        HARMLESS.each { |command| ask(*command) } if @server
        @asking&.close
      end

      test "a slow answer is waited for, and copies are not" do
        @proxy.delay = 0.1
        @one.write("far", 1)
        assert_equal 1, @two.read("far")
        @proxy.delay = 10
        assert_equal "old", @two.read("k")
      end

      test "what is slower than the client's timeout is a miss, and a delete is listed" do
        @proxy.delay = 10
        errors = reported { 2.times { assert_equal "made", @two.fetch("none") { "made" } } }
        assert_equal [Larder::RemoteError], errors.map(&:class)
        assert_match(/TimeoutError/, errors.first.message)
        @one.delete("k")
        assert_nil @one.read("k")
        @proxy.delay = 0
        assert(eventually { caught_up?(@one) })
        assert_equal 0, ask("EXISTS", "k")
      end

      slow_test "a stopped server: copies until local_expires_in, then the block; deletes are applied later" do
        halt(@server)
        assert_equal "old", @two.fetch("k") { flunk }
        @one.delete("k")
        travel(6, with_usec: true) { assert_equal "made", @two.fetch("k") { "made" } }
        resume(@server)
        assert(eventually { caught_up?(@one) && caught_up?(@two) })
        assert_equal 0, ask("EXISTS", "k")
      ensure
        resume(@server)
      end

      test "soft_timeout answers the old value of the remote store while the block takes long" do
        options = { expires_in: 10, stale_if_error: 60, soft_timeout: 0.05 }
        @one.fetch("soft", **options) { "old" }
        gate = Queue.new
        travel(20, with_usec: true) do
          assert_equal("old", @two.fetch("soft", **options) { gate.pop })
          gate << "new"
          assert(eventually { @one.read("soft") == "new" })
          assert_equal "new", @two.read("soft")
        end
      end

      test "stale_if_error answers the old value of the remote store where the block fails, if that answers" do
        options = { expires_in: 10, stale_if_error: 60 }
        @one.fetch("error", **options) { "old" }
        travel(20, with_usec: true) do
          assert_equal("old", @two.fetch("error", **options) { raise IOError, "no database" })
          @proxy.delay = 10
          assert_raises(IOError) { @two.fetch("other", **options) { raise IOError, "no database" } }
        end
      end

      test "no connection left on the server" do
        @one.instance_variable_get(:@remote).store.redis.then(&:close)
        ask("CONFIG", "SET", "maxclients", "1")
        @one.delete("k")
        assert_nil @one.read("k")
        assert_not caught_up?(@one)
        ask("CONFIG", "SET", "maxclients", "1000")
        assert(eventually { caught_up?(@one) })
        assert_equal 0, ask("EXISTS", "k")
      end

      test "no connection left in the pool" do
        one = machine("one", remote: far(pool: { size: 1, timeout: 0.02 }))
        @proxy.delay = 0.1
        errors = reported { Array.new(5) { |number| Thread.new { one.delete("k#{number}") } }.each(&:join) }
        assert_equal [Larder::RemoteError], errors.map(&:class)
        assert_match(/ConnectionPool::TimeoutError/, errors.first.message)
        assert_not one.instance_variable_get(:@remote).outbox.journal.empty?
        @proxy.delay = 0
        assert(eventually { caught_up?(one) })
      end

      test "a server that is full and evicts nothing refuses writes, which are listed, and takes deletes" do
        ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
        ask("CONFIG", "SET", "maxmemory", "1")
        assert_same true, @two.delete("k")
        assert caught_up?(@two)
        assert_same true, @one.write("k", "new")
        assert_not @one.instance_variable_get(:@remote).outbox.journal.empty?
        assert caught_up?(@one)
        assert_equal "new", @one.read("k"), "this machine has it, no other"
      end

      test "a replica answers deletes as a dead server does, and lists them" do
        @one.write("n", 1)
        ask("REPLICAOF", "127.0.0.1", "1")
        answers = [@two.delete("k"), @two.delete("n"), @two.delete_multi(%w[k n]), @one.delete("k"), @one.delete("n")]
        assert_equal [true, false, 0, true, true], answers # whether the machine had a copy
        assert_nil @two.increment("c")
        ask("REPLICAOF", "NO", "ONE")
        assert_equal 2, ask("EXISTS", "k", "n")
        assert(eventually { caught_up?(@one) && caught_up?(@two) })
        assert_equal 0, ask("EXISTS", "k", "n")
      end

      test "a command that the server refuses is reported until it takes it" do
        ask("ACL", "SETUSER", "default", "-flushdb")
        errors = reported { @one.clear }
        assert_match(/could not clear: .*NOPERM|no permissions/, errors.first.message)
        errors = reported { assert_nil machine("one").read("k") } # another process
        assert_equal 1, errors.size
        assert_match(/could not clear: .*no permissions/i, errors.first.message)
        ask("ACL", "SETUSER", "default", "+flushdb")
        assert(eventually { caught_up?(@one) })
        assert_equal 0, ask("DBSIZE")
      end
    end

    # Undoes what the tests set.
    HARMLESS = [%w[REPLICAOF NO ONE], %w[ACL SETUSER default +flushdb], %w[CONFIG SET maxclients 1000],
                %w[CONFIG SET maxmemory 0]].freeze

    private

    def remote
      far
    end

    def far(**options)
      [:redis_cache_store, { url: "redis://127.0.0.1:#{@proxy.port}", reconnect_attempts: 0, timeout: 0.3,
                             coder: Larder::Coder.new, **options }]
    end

    # By a connection that stays open.
    def ask(*command)
      (@asking ||= RedisClient.new(path: @path)).call(*command)
    end
  end

  # On Redis.
  class RemoteTroubleOverRedisTest < RemoteCase
    include RemoteTroubleTests

    def server_name
      "redis"
    end
  end

  # A few of them run each time.
  class RemoteTroubleOverValkeyTest < RemoteCase
    include RemoteTroubleTests

    def self.runnable_methods
      ENV["LARDER_SLOW_TESTS"] ? super : super.grep(/soft_timeout|refuses/)
    end

    def server_name
      "valkey"
    end
  end
end
