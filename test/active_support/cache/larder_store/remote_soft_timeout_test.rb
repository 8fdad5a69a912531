# frozen_string_literal: true

# `soft_timeout:` while a Redis does not answer. The Redis answers none of the requests that are held back, so a call
# that waits for one of them never ends.

require "support/remote_case"
require "support/slow_proxy"
require "redis"

module LarderStoreTests
  class RemoteSoftTimeoutTest < RemoteCase
    Refreshes = Larder::Store::Refreshes
    OLD = { expires_in: 10, stale_if_error: 600 }.freeze
    SOON = { **OLD, soft_timeout: 0.1 }.freeze
    LATE = { **OLD, soft_timeout: 60 }.freeze
    # A Redis that is slow here does not answer, and one second, as Rails has it, may pass at a busy machine.
    PATIENT = { connect_timeout: 300, read_timeout: 300, write_timeout: 300 }.freeze
    # Commands that write, and not CLIENT SETINFO, with which a new connection begins.
    WRITES = /SET(?!INFO)|DEL/i

    setup do
      @server = start("redis")
      @proxy = SlowProxy.new(@server.endpoint["url"].delete_prefix("unix://"))
      @one, @two = machine("one"), machine("two")
    end

    teardown do
      @proxy.release
      assert Refreshes.await(60)
      @proxy.stop
      assert_empty Larder::Store::Flights.held
    end

    test "the old value is the answer while the remote store is not, and the block runs afterwards, once" do
      with_old do
        runs = Queue.new
        @proxy.hold
        assert_equal ["old"] * 5, Array.new(5) { within { @one.fetch("k", SOON) { (runs << true) && "new" } } }
        threads = Array.new(5) { Thread.new { @one.fetch("k", SOON) { (runs << true) && "new" } } }
        assert_equal ["old"] * 5, within { threads.map(&:value) }
        assert_equal 0, runs.size
        @proxy.release
        assert_equal "new", refreshed(@one)
        assert_equal ["new", 1], [@two.read("k"), runs.size]
      end
    end

    test "so it is with the other options" do
      [{ single_flight: true }, { stale_while_revalidate: 300 }, { early_refresh: true }, { tags: "t" }].each do |more|
        options = { **SOON, **more }
        with_old(options) do
          @proxy.hold
          assert_equal("old", within { @one.fetch("k", options) { "new" } }, more)
          @proxy.release
          assert_equal "new", refreshed(@one), more
        end
      end
    end

    test "a value that another machine has made is not made again when the remote store answers" do
      with_old do
        @two.write("k", "of two", OLD)
        @proxy.hold
        assert_equal("old", within { @one.fetch("k", SOON) { flunk } })
        @proxy.release
        assert_equal "of two", refreshed(@one)
      end
    end

    test "while it takes no writes the value of a block that is in time is the answer" do
      with_old do
        @proxy.hold(WRITES)
        assert_equal("new", within { @one.fetch("k", { **OLD, soft_timeout: 1 }) { "new" } })
      end
    end

    test "a caller that changes such a value changes neither the copy nor the entry" do
      with_old do
        @proxy.hold(WRITES)
        value = within { @one.fetch("k", { **OLD, soft_timeout: 1 }) { ["new"] } }
        value << "changed"
        @proxy.release
        assert_equal [["new"], ["new"]], [refreshed(@one), @two.read("k")]
      end
    end

    test "those who wait for one answer of it have values of their own" do
      with_old do
        @two.write("k", ["new"], OLD)
        @proxy.hold
        callers = Array.new(2) { Thread.new { @one.fetch("k", LATE) { flunk } } }
        Thread.pass until callers.all?(&:stop?)
        @proxy.release
        values = within { callers.map(&:value) }
        values.first << "changed"
        assert_equal [["new", "changed"], ["new"]], values
      end
    end

    test "while it answers for no leases a call that finds an old value needs none" do
      with_old do
        @proxy.hold(%r{larder/lease})
        assert_equal("old", within { @one.fetch("k", { **SOON, single_flight: true }) { sleep(0.2) && "new" } })
      end
    end

    test "while it has not got what the journal lists" do
      with_old do
        TestServers.kill(@server)
        reports_of { @one.delete("other") }
        @server.start
        assert @one.stats[:remote][:waiting]
        @proxy.hold
        assert_equal("old", within { @one.fetch("k", SOON) { "new" } })
      end
    end

    test "a machine without a copy waits for the remote store, and no longer for the block" do
      with_old do
        gate = Queue.new
        @proxy.hold(WRITES)
        assert_equal("old", within { @two.fetch("k", SOON) { gate.pop } })
        gate << "new"
        @proxy.release
        assert_equal "new", refreshed(@two)
      end
    end

    test "a value that the block makes in time is the answer, and errors are, as if the remote store were fast" do
      with_old do
        thread = nil
        assert_equal("new", @one.fetch("k", LATE) { (thread = Thread.current) && "new" })
        refute_same Thread.current, thread
      end
      with_old { reports_of { assert_equal("old", @one.fetch("k", LATE) { raise IOError }) } }
      raising = -> { @one.fetch("k", LATE) { raise NotImplementedError } }
      with_old { reports_of { assert_raises(NotImplementedError, &raising) } }
    end

    test "an old value that is deleted while the block runs is not the answer" do
      [@one, @two].each do |store|
        with_old do
          caller = Thread.current
          begun, gate = Queue.new, Queue.new
          deleting = Thread.new { begun.pop && store.delete("k") && (gate << "of before") }
          made = store.fetch("k", { **OLD, soft_timeout: 1 }) do
            next "anew" if caller.equal?(Thread.current)

            (begun << true) && gate.pop && sleep(1.5)
          end
          deleting.join
          assert_equal "anew", made
          assert_equal "anew", refreshed(store)
        end
      end
    end

    test "of more keys than there is room for in the pool the old values are the answer" do
      keys = Array.new(110) { |number| "k#{number}" }
      keys.each { |key| @one.fetch(key, OLD) { "old" } }
      travel(11.seconds) do
        @proxy.hold
        soon = { **SOON, soft_timeout: 0.001 }
        assert_equal(["old"], within { keys.map { |key| @one.fetch(key, soon) { "new" } }.uniq })
      end
    end

    test "a call of the block for its own key has the old value" do
      with_old do
        assert_equal("old, too", @one.fetch("k", LATE) { "#{@one.fetch("k", LATE) { flunk }}, too" })
      end
    end

    test "a forked child does not wait for the computation of its parent" do
      with_old do
        gate = Queue.new
        assert_equal("old", @one.fetch("k", SOON) { gate.pop })
        @one.cache.delete("k")
        assert_equal("of the child", in_child { @one.fetch("k", LATE) { "of the child" } })
        gate << "new"
      end
    end

    test "a read has the old value, too" do
      options = { **SOON, stale_while_revalidate: 600 }
      with_old(options) do
        @proxy.hold
        assert_equal(%w[old old], Array.new(2) { within { @one.read("k", options) } })
      end
    end

    test "a read raises the error of the remote store with raise_errors" do
      cache = machine("raising", raise_errors: true)
      options = { **LATE, stale_while_revalidate: 1 }
      cache.write("k", "old", options)
      travel(13.seconds) do
        @server.stop
        assert_raises(Larder::RemoteError) { cache.read("k", options) }
      end
    end

    test "the events say what was served" do
      with_old do
        @proxy.hold
        events = []
        pattern = /cache_(read|fetch_hit)|stale\.larder/
        ActiveSupport::Notifications.subscribed(->(event) { events << event }, pattern) do
          within { @one.fetch("k", SOON) { "new" } }
        end
        assert_equal([["cache_read.active_support", false], ["stale.larder", nil]],
                     events.map { |event| [event.name, event.payload[:hit]] })
        assert_equal :soft_timeout, events.last.payload[:reason]
      end
    end

    private

    def remote
      [:redis_cache_store, { url: "redis://127.0.0.1:#{@proxy.port}", reconnect_attempts: 0, **PATIENT }]
    end

    # A time at which machine one and Redis have the value "old", which has expired.
    def with_old(options = OLD, &block)
      [@one, @two].each { |store| store.cache.clear }
      @one.fetch("k", { **options, force: true }) { "old" }
      travel(11.seconds, &block)
    end

    def refreshed(store)
      assert Refreshes.await(60)
      store.read("k")
    end

    def within(&block)
      Timeout.timeout(60, &block)
    end
  end
end
