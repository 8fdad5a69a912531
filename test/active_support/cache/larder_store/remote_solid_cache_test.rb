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

    # Each of the two has locked the gap in the index into which the other one inserts.
    test "a count that the database undoes for the transaction of another process is made again" do
      server = SolidCache::Record.connection_db_config.configuration_hash
      other = Trilogy.new(**server.slice(:socket, :username, :database))
      hash = SolidCache::Entry.send(:key_hash_for, "n")
      other.query("BEGIN")
      40.times { |row| insert(other, row) } # the transaction with fewer changes is undone
      other.query("SELECT id FROM solid_cache_entries WHERE key_hash = #{hash} FOR UPDATE")
      counting = Thread.new { @one.increment("n") }
      assert(eventually { waiting? })
      insert(other, hash + 1)
      other.query("COMMIT")
      assert_equal 1, counting.value
      assert_equal 2, @two.increment("n")
    ensure
      other&.close
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

    private

    def insert(connection, hash)
      connection.query("INSERT INTO solid_cache_entries (`key`, value, created_at, key_hash, byte_size) " \
                       "VALUES ('of #{hash}', '', now(), #{hash}, 1)")
    end

    # @return [Boolean] does a transaction wait for a lock?
    def waiting?
      SolidCache::Record.connection.select_rows("SHOW STATUS LIKE 'Innodb_row_lock_current_waits'").dig(0, 1).to_i > 0
    end
  end

  # With the gem sqlite3.
  class RemoteSolidCacheOnSqliteTest < RemoteCase
    # Has another process write between the read and the write of a count.
    Interrupting = Struct.new(:coder, :interruption) do
      def dump(entry)
        call = interruption and self.interruption = nil
        call&.call
        coder.dump(entry)
      end

      def load(bytes)
        coder.load(bytes)
      end
    end

    test "a count that the database refuses for the change of another process is made again" do
      coder = Interrupting.new(Larder::Coder.new)
      name, options = SolidCacheApplication.cache_store
      store = machine("one", remote: [name, { coder: coder, **options }], error_handler: nil)
      assert_equal 1, store.increment("n")
      other = SQLite3::Database.new(SolidCache::Record.connection_db_config.database)
      coder.interruption = -> { change(other) }
      assert_equal 2, store.increment("n")
      assert_equal 3, store.increment("n")
    ensure
      other&.close
    end

    private

    # Rails 8 locks the database before it reads.
    def change(connection)
      connection.execute("INSERT INTO solid_cache_entries (key, value, created_at, key_hash, byte_size) " \
                         "VALUES ('other', '', '2026-01-01', 7, 1)")
    rescue SQLite3::BusyException
      assert_operator Rails.gem_version, :>=, Gem::Version.new("8.0")
    end
  end
end
