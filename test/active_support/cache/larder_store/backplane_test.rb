# frozen_string_literal: true

# Machines tell each other of changes, over real servers. A machine is a file of its own here, of one process or more.

require "support/store_case"
require "support/servers"
require "support/slow_proxy"
require "dalli"
require "redis"

module LarderStore
  # The promises of Larder::Remote::Backplane, with every server.
  module BackplaneTests
    extend ActiveSupport::Concern

    included do
      setup do
        @server = start(server_name) || skip("#{server_name} is not installed")
        @far = start("memcached") || skip("memcached is not installed")
        @logger, Dalli.logger = Dalli.logger, Logger.new(nil)
        @one, @two = machine("one"), machine("two")
      end

      teardown do
        [@one, @two, @three_here].compact.each { |store| store.instance_variable_get(:@backplane).stop }
        [@server, @far].compact.each(&:stop)
        @places&.each { |place| FileUtils.rm_rf(place) }
        Dalli.logger = @logger if @logger
      end

      test "a delete and a write on one machine end the copies of the others" do
        @one.write("k", "old")
        assert_equal "old", @two.read("k")
        @one.write("k", "new")
        assert(eventually { @two.read("k") == "new" })
        @one.delete("k")
        assert(eventually { @two.read("k").nil? })
      end

      test "so do the multi forms, tags, namespaces and clear" do
        @one.write_multi({ "a" => 1, "b" => 2 })
        @one.write("t", 3, tags: "tag")
        @one.write("n", 4, namespace: "n")
        read = -> { [@two.read_multi("a", "b", "t"), @two.read("n", namespace: "n")] }
        assert_equal [{ "a" => 1, "b" => 2, "t" => 3 }, 4], read.call
        @one.delete_multi(%w[a])
        assert(eventually { read.call == [{ "b" => 2, "t" => 3 }, 4] })
        @one.delete_tagged("tag")
        assert(eventually { read.call == [{ "b" => 2 }, 4] })
        @one.clear
        assert(eventually { read.call == [{}, nil] })
      end

      test "a process that is the first of its machine again does not answer what was changed before" do
        @one.write("k", "old")
        told, tells = IO.pipe
        only = child do
          store = machine("again")
          tells.write(eventually { store.read("k") == "old" && store.cache.trusted? && store.read("k") })
          tells.close
          Kernel.sleep
        end
        tells.close
        assert_equal "old", told.read(3)
        Process.kill(:KILL, only)
        Process.wait(only)
        @one.delete("k")
        next_one = child do
          store = new_store("again.larder", remote: remote, backplane: backplane)
          exit!([store.read("k"), store.exist?("k")] == [nil, false])
        end
        assert_predicate Process.wait2(next_one).last, :success?
      end

      test "the handler of a signal reads copies, and as the first call of a process nothing" do
        store = new_store("signal.larder", remote: [:file_store, path_of("files")], backplane: backplane)
        store.remote.store.write("k", "value")
        found = []
        before = trap("USR2") { found << [store.read("k")] }
        Process.kill("USR2", Process.pid)
        assert(eventually { found.any? })
        assert_equal [nil], found.first
        assert(eventually do
          store.read("k")
          Process.kill("USR2", Process.pid)
          found.last == ["value"]
        end)
      ensure
        trap("USR2", before || "DEFAULT")
        store&.instance_variable_get(:@backplane)&.stop
      end

      test "what a machine could not apply is applied when the remote store is back, without a call of it" do
        name, url, options = remote
        store = machine("idle", remote: [name, url, { **options, down_retry_delay: 1 }])
        store.write("k", "old")
        Process.kill(:KILL, @far.pid)
        @far.stop
        store.delete("k")
        assert store.stats[:remote][:waiting]
        @far.start
        ActiveSupport::Cache.lookup_store(remote).write("k", "old")
        assert(eventually { !store.stats[:remote][:waiting] }, "still listed")
        assert_nil ActiveSupport::Cache.lookup_store(remote).read("k")
      ensure
        store&.instance_variable_get(:@backplane)&.stop
      end

      test "the others drop copies with a tag when its deletion is applied that the remote store did not take" do
        @one.write("k", "old", tags: "t")
        @one.remote.pause
        reported { @one.delete_tagged("t") }
        Kernel.sleep(0.2) # its message comes
        assert_equal "old", @two.read("k"), "of the remote store"
        assert(eventually(within: 30) { @one.read("none") || @two.read("k").nil? }, "a copy, for local_expires_in")
      end

      test "keys of any bytes and many keys" do
        names = Array.new(300) { |number| "#{"long" * 50}/#{number}" }
        @one.write_multi(names.to_h { |name| [name, 1] })
        assert_equal names.size, @two.read_multi(*names).size
        @one.delete_multi(names)
        assert(eventually { @two.read_multi(*names).empty? })
      end

      test "keys as long as there may be, more than one message takes" do
        names = Array.new(7) { |number| "#{number}#{"k" * 4000}" }
        @one.write_multi(names.to_h { |name| [name, 1] })
        @two.read_multi(*names)
        @one.delete_multi(names)
        assert(eventually { @two.read_multi(*names).empty? })
        assert_not @one.instance_variable_get(:@remote).outbox.journal.unsent
      end

      test "a machine keeps its copy of what it writes" do
        @two.write("k", 2)
        assert_equal 2, @one.read("k")
        far = ActiveSupport::Cache.lookup_store(remote)
        far.delete("k")
        Kernel.sleep(0.05)
        assert_equal 2, @two.read("k")
      end

      test "one process of a machine listens, and another one goes on when it is killed" do
        first = child { @three = machine("three").tap { |store| store.read("x") } }
        assert(eventually { @three_here ||= machine("three").tap { |store| store.read("x") } })
        assert(eventually { @three_here.cache.trusted? })
        @one.write("k", "old")
        assert_equal "old", @three_here.read("k")
        Process.kill(:KILL, first)
        Process.wait(first)
        @one.write("k", "new")
        assert(eventually { @three_here.read("k") == "new" })
      end

      test "a forked process has a thread of its own, and does not keep its parent's lock" do
        @one.write("k", "old")
        reader = child { eventually { @two.read("k") == "new" } && exit!(0) }
        @two.instance_variable_get(:@backplane).stop
        @one.write("k", "new")
        assert_predicate Process.wait2(reader).last, :success?
      end

      test "without the server a machine asks the remote store, and copies of before are gone when it is back" do
        far = ActiveSupport::Cache.lookup_store(remote)
        @one.write("k", "old")
        @two.read("k")
        stop_server
        assert(eventually { !@two.cache.trusted? })
        start_server
        far.write("k", "new")
        assert(eventually { @two.read("k") == "new" })
      end
    end

    private

    # In a directory that another user may enter, as PostgreSQL does not run as root.
    def start(name)
      type = Larder::Lab::Servers.fetch(name)
      return unless type.path

      @places = [*@places, Dir.mktmpdir("larder-test-#{name}")]
      type.new(@places.last).tap(&:start)
    end

    def remote
      [:mem_cache_store, @far.endpoint.fetch("url"), { coder: Larder::Coder.new, protocol: :meta }]
    end

    def backplane
      @server.endpoint.fetch("url")
    end

    def stop_server
      Process.kill(:KILL, @server.pid)
      @server.stop
    end

    def start_server
      @server.start
    end

    def machine(name, **options)
      new_store("#{name}.larder", remote: remote, backplane: backplane, **options).tap do |store|
        store.read("none")
        eventually { store.cache.trusted? }
      end
    end

    def child
      fork do
        yield
        sleep
      end
    end
  end

  # With PUBLISH and SUBSCRIBE.
  class BackplaneOverRedisTest < StoreCase
    include BackplaneTests

    # An error of the application.
    class Interrupted < StandardError; end

    def server_name
      "redis"
    end

    # @return [Integer] how many messages the server has got
    def published
      info = RedisClient.new(path: backplane.delete_prefix("unix://")).call("INFO", "commandstats")
      info[/cmdstat_publish:calls=(\d+)/, 1].to_i
    end

    test "other machines are told when a counter of a server begins, and not of each increment" do
      @two.write("n", 5)
      assert_equal 5, @one.read("n")
      ActiveSupport::Cache.lookup_store(remote).delete("n") # as if evicted
      assert_equal 1, @two.increment("n")
      assert(eventually { @one.read("n").nil? })
      before = published
      assert_equal [2, 3, 2], [@one.increment("n"), @two.increment("n"), @one.decrement("n")]
      assert_equal before, published
      assert_equal "2", @two.read("n", raw: true)
    end

    test "they are told of each increment in a store that reads counters as other values" do
      far = [:file_store, path_of("counters")]
      one, two = Array.new(2) { |number| machine("counter#{number}", remote: far) }
      assert_equal [1, 1], [one.increment("n"), two.read("n")]
      one.increment("n")
      assert(eventually { two.read("n") == 2 })
    ensure
      [one, two].compact.each { |store| store.instance_variable_get(:@backplane).stop }
    end

    test "what a later version says ends all copies" do
      @one.write("k", "old")
      @two.read("k")
      far = ActiveSupport::Cache.lookup_store(remote)
      far.write("k", "new")
      RedisClient.new(path: backplane.delete_prefix("unix://")).call("PUBLISH", "larder", '[2, "other", "odd"]')
      assert(eventually { @two.read("k") == "new" })
      far.write("k", "newer")
      RedisClient.new(path: backplane.delete_prefix("unix://")).call("PUBLISH", "larder", "no JSON")
      assert(eventually { @two.read("k") == "newer" })
    end

    test "what could not be told is told when the server is back" do
      @one.write("k", "old")
      @two.read("k")
      stop_server
      @one.write("k", "new")
      start_server
      assert(eventually { @two.read("k") == "new" })
      assert(eventually { !@one.instance_variable_get(:@remote).outbox.journal.unsent })
    end

    test "a server that stops answering is one that fails" do
      @one.write("k", "old")
      @two.read("k")
      Process.kill(:STOP, @server.pid)
      assert(eventually { !@two.cache.trusted? })
      ActiveSupport::Cache.lookup_store(remote).write("k", "new")
      assert_equal "new", @two.read("k")
    ensure
      Process.kill(:CONT, @server.pid)
    end

    test "nobody waits for a server that does not answer, and all is told when it does" do
      @one.write("k", "old")
      @two.read("k")
      Process.kill(:STOP, @server.pid)
      Timeout.timeout(LONGEST) { 100.times { |number| @one.write("k", number) } }
      assert @one.instance_variable_get(:@remote).outbox.journal.unsent
      Process.kill(:CONT, @server.pid)
      assert(eventually { @two.read("k") == 99 })
      assert(eventually { !@one.instance_variable_get(:@remote).outbox.journal.unsent })
    ensure
      Process.kill(:CONT, @server.pid)
    end

    test "while a message is on its way, the changes of other threads are collected for the next" do
      proxy = SlowProxy.new(backplane.delete_prefix("unix://"))
      far = machine("far", backplane: "redis://127.0.0.1:#{proxy.port}")
      names = Array.new(20) { |number| "k#{number}" }
      names.each { |name| @two.write(name, "old") }
      far.write("first", 1)
      before = published
      proxy.delay = 0.3
      names.map { |name| Thread.new { far.write(name, "new") } }.each(&:join)
      assert_operator published - before, :<=, names.size / 2
      assert(eventually { @two.read_multi(*names).values == ["new"] * names.size })
    ensure
      far&.instance_variable_get(:@backplane)&.stop
      proxy&.stop
    end

    test "a message that another thread's exception interrupts is sent later" do
      Process.kill(:STOP, @server.pid)
      writer = Thread.new { @one.write("k", "new") }
      writer.report_on_exception = false
      assert(eventually { writer.backtrace.to_a.any? { |line| line.include?("store/backplane") } })
      writer.raise(Interrupted)
      assert_raises(Interrupted) { writer.value }
      assert @one.instance_variable_get(:@remote).outbox.journal.unsent
      Process.kill(:CONT, @server.pid)
      assert(eventually { !@one.instance_variable_get(:@remote).outbox.journal.unsent })
    ensure
      Process.kill(:CONT, @server.pid)
    end

    test "with the remote store and the server dead copies are used" do
      @one.write("k", "old")
      stop_server
      @far.stop
      Kernel.sleep(1.5)
      assert_equal "old", @one.read("k")
      assert(eventually { @one.cache.trusted? })
      travel(61) { assert_nil @one.read("k") }
    end
  end

  # The same, of which a few tests run each time.
  class BackplaneOverValkeyTest < BackplaneOverRedisTest
    def self.runnable_methods
      ENV["LARDER_SLOW_TESTS"] ? super : super.grep(/a_delete_and_a_write|multi_forms|told_when_the_server_is_back/)
    end

    def server_name
      "valkey"
    end
  end

  # With NOTIFY and LISTEN.
  class BackplaneOverPostgresqlTest < StoreCase
    include TestServers::Postgresql
    include BackplaneTests
  end
end
