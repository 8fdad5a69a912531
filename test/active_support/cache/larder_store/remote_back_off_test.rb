# frozen_string_literal: true

# Machines that share a Redis, after the block of an old value has raised.

require "support/remote_case"
require "redis"

module LarderStoreTests
  class RemoteBackOffTest < RemoteCase
    Refreshes = Larder::Store::Refreshes
    ERROR = { expires_in: 10, stale_if_error: 600 }.freeze
    ALWAYS = { expires_in: 10, stale_while_revalidate: 600 }.freeze
    OPTIONS = [ERROR, ALWAYS, { **ERROR, **ALWAYS }, { **ERROR, single_flight: true },
               { **ERROR, soft_timeout: 30 }, { **ERROR, soft_timeout: 30, single_flight: true }].freeze

    setup do
      @server = start("redis")
      @one, @two, @three = %w[one two three].map { |name| machine(name, local_expires_in: 1) }
    end

    teardown do
      assert Refreshes.await(60)
      assert_empty Larder::Store::Flights.held
    end

    OPTIONS.each do |options|
      test "the block of a machine without an old record runs once in a while, with #{options}" do
        with_old(options) do
          assert_equal [["old"], 1], failing(@two, options, 5)
          assert_equal [["old"], 0], failing(@one, options, 5), "another machine, which has an old record"
          assert_equal [["old"], 0], failing(@three, options, 5), "and one which has none"
          travel 6.seconds
          assert_equal [["old"], 1], failing(@three, options, 5)
        end
      end
    end

    test "for fetch_multi, too" do
      OPTIONS.first(4).each do |options|
        with_old(options) do
          assert_equal [["old"], 1], failing_multi(@two, options, 5)
          assert_equal [["old"], 0], failing(@one, options, 5)
          assert_equal [["old"], 0], failing_multi(@three, options, 5)
        end
      end
    end

    test "of callers on all machines who wait for one value, no other runs the block when it has raised" do
      options = { **ERROR, single_flight: true, wait: 60 }
      with_old(options) do
        runs = Queue.new
        reports = reports_of do
          callers = [@one, @two, @three] * 3
          values = callers.map do |store|
            Thread.new { store.fetch("k", options) { (runs << true) && sleep(0.2) && raise(IOError) } }
          end
          assert_equal ["old"], values.map(&:value).uniq
        end
        assert_equal 1, runs.size, reports.inspect
      end
    end

    test "other machines know of the error before the lease in the remote store ends" do
      options = { **ERROR, single_flight: true }
      with_old(options) do
        commands = commands_of(@server) { assert_equal [["old"], 1], failing(@two, options, 1) }
        known = commands.index { |command| command.match?(/\A\S+ \[.*\] "set" "k\/larder\/back-off"/i) }
        ended = commands.rindex { |command| command.include?('"k/larder/lease"') }
        assert_operator known, :<, ended, commands.join("\n")
      end
    end

    test "a delete ends it, of this machine at once" do
      with_old(ERROR) do
        failing(@two, ERROR, 2)
        @two.delete("k")
        assert_raises(IOError) { @two.fetch("k", ERROR) { raise IOError } }
        assert_equal("new", @two.fetch("k", ERROR) { "new" })
      end
    end

    test "a delete of another machine ends it when the copy has" do
      with_old(ERROR) do
        failing(@two, ERROR, 2)
        @one.delete("k")
        travel 2.seconds
        2.times { assert_raises(IOError) { @two.fetch("k", ERROR) { raise IOError } } }
      end
    end

    test "a delete of its tag ends it" do
      options = { **ERROR, tags: "t" }
      with_old(options) do
        failing(@two, options, 2)
        @two.delete_tagged("t")
        assert_raises(IOError) { @two.fetch("k", options) { raise IOError } }
      end
    end

    test "a value that another machine writes is the answer, and its own errors are its own" do
      with_old(ERROR) do
        failing(@two, ERROR, 2)
        @one.fetch("k", { **ERROR, expires_in: 3, force: true }) { "new" }
        travel 2.seconds
        assert_equal("new", @two.fetch("k", ERROR) { flunk })
        travel 3.seconds
        assert_equal [["new"], 1], failing(@two, ERROR, 3)
      end
    end

    OPTIONS.each do |options|
      test "a value that comes and expires while the block runs is not served without its block, with #{options}" do
        with_old(options) do
          assert_includes %w[old new], failing_beside(@two, options)
          assert_equal [1, 0, 0], [@one, @three, @two].map { |store| failing(store, options, 2).last }
        end
      end
    end

    OPTIONS.first(4).each do |options|
      test "so it is for fetch_multi, with #{options}" do
        with_old(options) do
          assert_includes %w[old new], failing_beside(@two, options, multi: true)
          assert_equal [["new"], 1], failing_multi(@one, options, 1)
        end
      end
    end

    test "with force the block runs each time" do
      with_old(ERROR) do
        failing(@two, ERROR, 2)
        assert_equal [["old"], 3], failing(@two, { **ERROR, force: true }, 3)
        assert_equal("new", @two.fetch("k", { **ERROR, force: true }) { "new" })
      end
    end

    test "without an old value each call runs the block and raises its error" do
      OPTIONS.each do |options|
        runs = 0
        3.times { assert_raises(IOError) { @two.fetch("none", options) { (runs += 1) && raise(IOError) } } }
        assert_equal 3, runs
      end
    end

    test "a value that is too old is not served, also while others may serve it" do
      with_old(ERROR) do
        failing(@two, ERROR, 2)
        travel 2.seconds
        assert_raises(IOError) { @three.fetch("k", { **ERROR, stale_if_error: 0.5 }) { raise IOError } }
      end
    end

    test "while the remote store is down a machine with a copy backs off by itself, and with others when it is back" do
      with_old(ERROR) do
        TestServers.kill(@server)
        reports_of { assert_equal [["old"], 1], failing(@one, ERROR, 5) }
        @server.start
        redis = Redis.new(url: @server.endpoint["url"])
        reports_of do
          assert(eventually { @two.write("other", 1) && redis.exists?("other") })
          assert(eventually { @one.read("other") == 1 })
          @one.write("k", "old", ERROR) # listed nowhere, so "k" is read at once
        end
        travel 11.seconds
        assert_equal [["old"], 1], failing(@two, ERROR, 5)
        assert_equal [["old"], 0], failing(@one, ERROR, 5)
      end
    end

    test "calls without the options are not served what backs off for longer than copies live" do
      with_old(ERROR) do
        failing(@two, ERROR, 2)
        travel 2.seconds
        assert_nil @two.read("k")
      end
    end

    test "keys of any length and namespaces of calls back off" do
      ["k" * 4000, "kü"].each do |name|
        options = { **ERROR, namespace: "n" }
        @one.fetch(name, options) { "old" }
        travel(11.seconds) do
          assert_equal [["old"], 1], failing(@two, options, 3, name)
          assert_equal [["old"], 0], failing(@three, options, 3, name)
        end
      end
    end

    private

    def remote
      [:redis_cache_store, { url: @server.endpoint["url"] }]
    end

    # A time at which "k" has the value "old" on one machine and in Redis, which has expired.
    def with_old(options, &block)
      [@one, @two, @three].each { |store| store.cache.clear }
      @one.fetch("k", { **options, force: true }) { "old" }
      travel(11.seconds, &block)
    end

    # @return [Array] which values the calls had, and how many blocks ran
    def failing(store, options, calls, name = "k")
      runs = Queue.new
      values = nil
      reports_of do
        values = Array.new(calls) do
          value = store.fetch(name, options) { (runs << true) && raise(IOError, "down") }
          assert Refreshes.await(60)
          value
        end
      end
      [values.uniq, runs.size]
    end

    # @return [Array<String>] the commands that the server got, as its MONITOR shows them
    def commands_of(server)
      watching = UNIXSocket.new(server.endpoint["url"].delete_prefix("unix://"))
      watching.puts("MONITOR")
      assert_equal "+OK", watching.gets.chomp
      yield
      Redis.new(url: server.endpoint["url"]).echo("the end")
      commands = []
      commands << watching.gets until commands.last&.include?("the end")
      commands
    ensure
      watching&.close
    end

    # The block raises when another machine has stored a value, and that has expired.
    #
    # @return [Object] the call's value
    def failing_beside(store, options, multi: false)
      block = lambda do |*|
        ActiveSupport::Cache.lookup_store(remote).write("k", "new", expires_in: 3, race_condition_ttl: 60)
        travel 4.seconds
        raise IOError, "down"
      end
      reports_of do
        value = multi ? store.fetch_multi("k", options, &block)["k"] : store.fetch("k", options, &block)
        assert Refreshes.await(60)
        return value
      end
    end

    def failing_multi(store, options, calls)
      runs = Queue.new
      values = nil
      reports_of do
        values = Array.new(calls) do
          value = store.fetch_multi("k", options) { (runs << true) && raise(IOError, "down") }["k"]
          assert Refreshes.await(60)
          value
        end
      end
      [values.uniq, runs.size]
    end
  end
end
