# frozen_string_literal: true

# Two levels over Solid Cache on a database that is killed and started again.

require "support/remote_case"
require "support/solid_cache_application"

module LarderStore
  # What holds on every database.
  module RemoteSolidCacheTests
    extend ActiveSupport::Concern

    included do
      setup do
        skip "the gem #{gem_name} is not in the bundle" unless Gem.loaded_specs.key?(gem_name)

        @server = start_once(server_name)
        @one, @two = machine("one", error_handler: nil), machine("two", error_handler: nil)
        @one.write_multi({ "k" => "old", "j" => "old" })
        @two.read("k")
      end

      teardown { SolidCacheApplication.cache_store if @server } # SQLite

      test "while the database is dead copies are answered, and deletes are applied when it is back" do
        TestServers.kill(@server)
        assert_equal "old", @two.read("k")
        @one.delete_multi(%w[k none])
        assert_nil @one.read("k")
        assert_nil @one.increment("n")
        @server.start
        assert_equal "old", far.read("k"), "it keeps its rows"
        assert(eventually { caught_up?(@one) })
        assert_equal %w[j], far.read_multi("j", "k").keys
        assert_equal 1, @one.increment("n")
        TestServers.kill(@server)
        @one.clear
        @server.start
        assert(eventually { caught_up?(@one) })
        assert_empty far.read_multi("j", "n")
      end

      test "single flight: the lease of a machine that is killed ends" do
        pid = fork do
          @one.fetch("f", single_flight: true, lease: 0.5) { Process.kill(:KILL, Process.pid) && Kernel.sleep }
        end
        Process.wait(pid)
        assert far.exist?("f/larder/lease")
        assert_equal "made", @two.fetch("f", single_flight: true, lease: 1, wait: 5) { "made" }
        assert_equal "made", far.read("f")
      end

      slow_test "under load no delete is lost while the database is killed twice" do
        under_load(@one, @two, Array.new(30, &:to_s)) do
          2.times do
            Kernel.sleep(0.5)
            TestServers.kill(@server)
            Kernel.sleep(RemoteCase::LOAD)
            @server.start
            Kernel.sleep(RemoteCase::LOAD)
          end
        end
      end
    end

    private

    def remote
      @remote ||= SolidCacheApplication.cache_store(@server.endpoint.fetch("url"))
      [@remote.first, { coder: Larder::Coder.new, **@remote.last }]
    end

    # Without a machine before it.
    def far
      ActiveSupport::Cache.lookup_store(remote)
    end
  end

  # With the gem pg.
  class RemoteSolidCacheOnPostgresqlTest < RemoteCase
    include RemoteSolidCacheTests

    def server_name
      "postgresql"
    end

    def gem_name
      "pg"
    end

    test "a read-only database is one that fails" do
      read_only("on")
      @one.delete("k")
      assert_nil @one.read("k")
      read_only("off")
      assert_equal "old", far.read("k")
      assert(eventually { caught_up?(@one) })
      assert_not far.exist?("k")
    end

    private

    # As a replica is. Solid Cache has a connection more for entries that it drops.
    def read_only(value)
      SolidCache::Record.connection_pool.connections.each do |connection|
        connection.execute("SET default_transaction_read_only = #{value}")
      end
    end
  end

  # With the gem trilogy.
  class RemoteSolidCacheOnMariadbTest < RemoteCase
    include RemoteSolidCacheTests

    def server_name
      "mariadb"
    end

    def gem_name
      "trilogy"
    end

    slow_test "a database that does not answer is one that fails" do
      halt(@server)
      assert_equal "old", @two.read("k")
      @one.delete("k") # takes read_timeout
      assert_nil @one.read("k")
      resume(@server)
      assert(eventually { caught_up?(@one) })
      assert_not far.exist?("k")
    end
  end
end
