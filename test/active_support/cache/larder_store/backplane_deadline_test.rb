# frozen_string_literal: true

# A server of the backplane that hangs: no call waits for it for longer than the deadline.

require "support/backplane_case"

module LarderStore
  # Tests for every server.
  module BackplaneDeadlineTests
    extend ActiveSupport::Concern

    included do
      test "writes end while the server is stopped, one of them waits, and other machines learn of them later" do
        one, two = listening("one"), listening("two")
        one.write("k", "old")
        assert(eventually { two.read("k") == "old" })
        halt(@server)
        in_time { MANY.times { |number| one.write("k", number) } }
        resume(@server)
        assert(eventually { two.read("k") == MANY - 1 })
      end

      test "so do they in a process that has not written before" do
        two = listening("two")
        one = peer("one")
        halt(@server)
        MANY.times { |number| one.order(:write, "k", number) }
        in_time { MANY.times { assert_same true, one.answer } }
        resume(@server)
        assert(eventually { two.read("k") == MANY - 1 })
      end

      test "so do they while a link is half open, and an answer that comes late is not that of a later message" do
        held = proxy
        one, two = listening("one", backplane: url_of(held)), listening("two")
        one.write("k", "old")
        assert(eventually { two.read("k") == "old" })
        held.hold(of: SlowProxy::BOTH)
        in_time { MANY.times { |number| one.write("k", number) } }
        held.release
        assert(eventually { two.read("k") == MANY - 1 && one.cache.trusted? })
        20.times do |number|
          one.write("late", number)
          assert(eventually { two.read("late") == number })
        end
      end

      test "threads that write at the same time wait no longer together" do
        one = listening("one")
        halt(@server)
        threads = Array.new(MANY) { |number| Thread.new { one.write("k#{number}", 1) } }
        assert_equal [true], in_time { threads.map(&:value) }.uniq
      end

      test "a child process that ends leaves its parent's connections as they are" do
        one, two = listening("one"), listening("two")
        one.write("k", "old")
        assert(eventually { two.read("k") == "old" })
        reports = reported do
          Process.wait(fork { exit!(one.write("j", 1)) })
          Process.wait(fork { GC.start })
          one.write("k", "new")
          assert(eventually { two.read("k") == "new" && two.cache.trusted? })
        end
        assert_empty reports
      end
    end

    # So many writes that they would take longer than any test may if each waited.
    MANY = 100
  end

  # With redis-client.
  class BackplaneDeadlineOverRedisTest < BackplaneCase
    include BackplaneDeadlineTests

    test "writes end while a server greets byte by byte" do
      slow = TCPServer.new("127.0.0.1", 0)
      drips = Thread.new do
        loop do
          greeting = Thread.new(slow.accept) { |client| loop { client.write("+") && Kernel.sleep(0.5) } }
          greeting.report_on_exception = false
        end
      end
      one = machine("one", backplane: "redis://127.0.0.1:#{slow.addr[1]}")
      in_time { MANY.times { |number| one.write("k", number) } }
      assert_equal MANY - 1, one.read("k")
    ensure
      drips&.kill
      slow&.close
    end

    private

    def url_of(proxy)
      "redis://127.0.0.1:#{proxy.port}"
    end
  end

  # With the gem pg.
  class BackplaneDeadlineOverPostgresqlTest < BackplaneCase
    include TestServers::Postgresql
    include BackplaneDeadlineTests

    test "writes end while a commit of another session holds the lock of all notifications" do
      one, two = listening("one"), listening("two")
      one.write("k", "old")
      assert(eventually { two.read("k") == "old" })
      execute("ALTER SYSTEM SET synchronous_standby_names = 'none'", "SELECT pg_reload_conf()")
      waiting = held_commit
      in_time { MANY.times { |number| one.write("k", number) } }
      execute("SET synchronous_commit = local", "ALTER SYSTEM RESET synchronous_standby_names",
              "SELECT pg_reload_conf()")
      assert(eventually { two.read("k") == MANY - 1 })
    ensure
      waiting&.join
    end

    private

    def url_of(proxy)
      "postgresql://larder_lab@127.0.0.1:#{proxy.port}/postgres"
    end

    def execute(*statements)
      connection = PG.connect(backplane)
      statements.map { |statement| connection.exec(statement) }
    ensure
      connection&.close
    end

    # A commit with a notification. It waits for a standby that does not exist.
    def held_commit
      thread = Thread.new { execute("BEGIN; CREATE TABLE held (id int); NOTIFY other; COMMIT") }
      assert(eventually { execute("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'").first.ntuples == 1 })
      thread
    end
  end
end
