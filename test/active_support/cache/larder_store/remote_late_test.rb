# frozen_string_literal: true

# Operations that were given up, and that the remote store gets later than a change of the same key that it has
# confirmed.

require "support/moved_clock"
require "support/remote_case"
require "support/slow_proxy"
require "redis"
require "dalli"

module LarderStore
  # Larder::Remote::Outbox::Lists, over a proxy that holds requests back, and over a server that is stopped.
  class RemoteLateTest < RemoteCase
    State = Larder::Remote::Outbox::State
    # Interrupts a call.
    class Stop < StandardError; end

    # Seconds after which an operation is given up that takes long.
    LONG = 3
    # Bytes of requests that are held back.
    LATE = /late/n
    # Writes of "k" that are given up.
    WRITES = {
      "write" => ->(store) { store.write("k", "late") },
      "write of raw bytes" => ->(store) { store.write("k", "late", raw: true) },
      "write_multi" => ->(store) { store.write_multi({ "j" => "late", "k" => "late" }) },
      "write with unless_exist" => ->(store) { store.delete("k") && store.write("k", "late", unless_exist: true) },
      "raw write with unless_exist" => lambda do |store|
        store.delete("k")
        store.write("k", "late", unless_exist: true, raw: true)
      end,
      "write that Timeout interrupts" => lambda do |store|
        Timeout.timeout(0.05) { store.write("k", "late") }
      rescue Timeout::Error
        nil
      end
    }.freeze

    setup do
      @logger, Dalli.logger = Dalli.logger, Logger.new(nil)
      @server = start_once("redis")
      @proxy = SlowProxy.new(@server.endpoint.fetch("url").delete_prefix("unix://"))
      far.clear
      @one = machine("one")
    end

    teardown do
      @proxy&.stop
      @asking&.close
      Dalli.logger = @logger if @logger
    end

    WRITES.each do |name, write|
      test "a #{name} that arrives after a confirmed delete is deleted again" do
        @one.write("k", "old")
        give_up { write.call(@one) }
        assert(eventually { caught_up?(@one) })
        @one.delete("k")
        arrives { assert_nil value(@one) }
        assert_ends_without { assert_nil value(@one) }
      end
    end

    test "a value under a lease that arrives after a confirmed delete finds the lease ended, and is not stored" do
      give_up { @one.fetch("k", single_flight: true) { "late" } }
      assert(eventually { caught_up?(@one) })
      @one.delete("k")
      @proxy.release
      assert(eventually { @proxy.idle? })
      far.increment("after") # the server has run all before
      assert_not there?("k")
    end

    { "fetch" => ->(store, block) { store.fetch("k", single_flight: true, &block) },
      "fetch_multi" => ->(store, block) { store.fetch_multi("k", single_flight: true, &block) } }.each do |name, call|
      test "a lease of #{name} that its client took twice does not come back after a delete of another machine" do
        one = machine("repeating", remote: remote(reconnect_attempts: 1, read_timeout: 0.5))
        one.fetch("warm", single_flight: true) { 1 } # the server knows the scripts
        @proxy.hold(%r{k/larder/lease}n)
        compute = lambda do |*|
          machine("three", remote: direct).delete("k")
          arrives("k/larder/lease")
          "old"
        end
        fetching = Thread.new { call.call(one, compute) }
        assert(eventually { @proxy.holds? })
        @proxy.hold(/only what is held already/n)
        fetching.join
        assert_not there?("k")
      end
    end

    test "a write that its client repeated, so that the first attempt arrives late, is deleted again" do
      one = machine("repeating", remote: remote(reconnect_attempts: 1, read_timeout: 0.5))
      one.write("k", "old")
      @proxy.hold(LATE)
      writing = Thread.new { one.write("k", "late") }
      assert(eventually { @proxy.holds? })
      @proxy.hold(/only what is held already/n)
      assert_equal true, writing.value
      one.delete("k")
      arrives { assert_nil one.read("k") }
      put_clock_forward
      assert(eventually { one.read("other") || !there?("k") })
    end

    test "so is a deletion of a tag, which would bring back what the next one has deleted" do
      one = machine("repeating", remote: remote(reconnect_attempts: 1, read_timeout: 0.5))
      @proxy.hold(%r{larder/tag/t}n)
      deleting = Thread.new { one.delete_tagged("t") }
      assert(eventually { @proxy.holds? })
      @proxy.hold(/only what is held already/n)
      deleting.join
      one.write("k", "old", tags: ["t"])
      one.delete_tagged("t")
      arrives { assert_nil one.read("k") }
      put_clock_forward
      three = machine("three", remote: direct)
      assert(eventually { one.read("other") || three.read("k").nil? })
    end

    test "a write that arrives after a newer one never replaces it where it was written, and is deleted" do
      give_up { @one.write("k", "late") }
      assert(eventually { caught_up?(@one) })
      @one.write("k", "new")
      arrives { assert_equal "new", @one.read("k") }
      assert_ends_without { assert_includes ["new", nil], @one.read("k") }
    end

    test "an exception of another thread interrupts a write" do
      @proxy.hold(LATE)
      thread = Thread.new { @one.write("k", "late") }
      thread.report_on_exception = false
      assert(eventually { @proxy.holds? })
      thread.raise(Stop)
      assert_raises(Stop) { thread.join }
      assert(eventually { caught_up?(@one) })
      arrives
      assert_ends_without
    end

    test "another process deletes what arrives late where the one that deleted first is killed" do
      @proxy.hold(LATE)
      Process.wait(fork do
        @one.write("k", "late")
        eventually { caught_up?(@one) }
        @one.delete("k")
        Process.kill(:KILL, Process.pid)
      end)
      assert @proxy.holds?
      arrives { assert_nil @one.read("k") }
      assert_ends_without
    end

    test "other machines drop their copies when what arrived late is deleted" do
      backplane = @server.endpoint.fetch("url")
      one, two = machine("three", backplane: backplane), machine("four", backplane: backplane, remote: direct)
      assert(eventually { [one, two].each { |store| store.read("k") }.all? { |store| store.stats[:remote][:trusted] } })
      give_up { one.write("k", "late") }
      assert(eventually { caught_up?(one) })
      one.delete("k")
      arrives
      assert_equal "late", two.read("k"), "it cannot know"
      put_clock_forward
      assert(eventually { one.read("k") || two.read("k").nil? })
      assert_nil one.read("k")
    end

    test "an increment that arrives after a confirmed delete is deleted again, and stays without one" do
      @one.increment("k", 5)
      @one.increment("n", 5)
      %w[k n].each { |name| give_up(/INCRBY/ni) { @one.increment(name) } }
      @one.delete("k")
      arrives { assert_nil @one.read("k", raw: true) }
      assert(eventually { @one.read("n", raw: true).to_i == 6 })
      assert_ends_without
      assert_equal 7, @one.increment("n")
    end

    test "an increment that is given up while its key waits for the second delete moves that delete" do
      counting = give_up_late { |one| one.increment("k") }
      first = state_of("k")
      counting.join
      MovedClock.forward(State::REPEATED_AFTER - LONG)
      assert(eventually { State.due?(first) })
      @one.read("other") # would take the key off
      @one.delete("k")
      arrives { assert_nil value(@one) }
      assert_ends_without { assert_nil value(@one) }
    end

    test "an operation that is given up while a delete of its key is applied has that delete applied again" do
      @one.write("n", "old")
      journal = @one.instance_variable_get(:@remote).outbox.journal
      journal.note(:delete, %w[k n])
      visits = []
      2.times do
        journal.each do |kind, keys|
          visits << [kind, keys.sort]
          journal.expect(["k"]) if visits.one?
        end
      end
      assert_equal [[:delete, %w[k n]], [:delete, %w[k]]], visits
    end

    test "another name of the same server waits for the second delete of what the first has deleted" do
      @one.write("n", "old")
      give_up { @one.write("k", "late") }
      @one.delete_matched("m*") if @one.delete("n")
      assert(eventually { caught_up?(@one) })
      two = machine("one", remote: direct)
      arrives { assert_nil two.read("k") }
      assert_equal 0, two.stats[:remote][:listed]
      put_clock_forward
      assert(eventually { two.read("other") || !there?("k") })
      assert(eventually { two.write("k", "new") && machine("one", remote: direct).read("k") == "new" })
    end

    test "a write that arrives late is deleted where another name of the same server has deleted it" do
      two = machine("one", remote: direct)
      two.read("other")
      give_up(/INCRBY/ni) { @one.increment("k") }
      three = machine("one", remote: path_of("link").then { |link| linked(link) })
      two.delete("k")
      arrives { assert_equal [nil] * 3, [two, three, @one].map { |store| store.read("k", raw: true) } }
      put_clock_forward
      assert(eventually { three.read("other") || !there?("k") })
    end

    test "an operation and a delete of it are listed for all names, whatever state the key has for each" do
      stores = [@one, machine("one", remote: direct)].each { |store| store.read("other") }
      lists = stores.map { |store| store.remote.outbox.journal }
      one, two = lists
      one.repeat(:delete, ["k"]) # for its own list
      two.expect(["k"])
      assert_equal [["k"], []], [two, one].map { |list| list.unlisted(["k"]) }
      one.changed(:delete, ["k"])
      assert_equal [[], []], lists.map { |list| list.unlisted(["k"]) }
    end

    test "a name that is used for the first time after an operation was given up deletes what arrives late" do
      give_up(/INCRBY/ni) { @one.increment("k") }
      two = machine("one", remote: direct)
      two.delete("k")
      arrives { assert_equal [nil] * 2, [two, @one].map { |store| store.read("k", raw: true) } }
      put_clock_forward
      assert(eventually { two.read("other") || !there?("k") })
    end

    test "clear of a namespace, and delete_matched, are followed by a delete of what arrives late" do
      one = machine("five", namespace: "shop")
      [-> { one.clear(namespace: "shop") }, -> { one.delete_matched("k*") }].each do |clear|
        give_up(/INCRBY/ni) { one.increment("k") }
        clear.call
        arrives("shop:k") { assert_nil one.read("k", raw: true) }
        put_clock_forward
        assert(eventually { one.read("other") || !there?("shop:k") })
      end
    end

    test "a stopped server goes on, with what it has not read yet" do
      halt(@server)
      @one.write("k", "late")
      @one.increment("n")
      @one.delete_multi(%w[k n])
      resume(@server)
      assert(eventually { caught_up?(@one) })
      assert_nil @one.read("k")
      assert_ends_without(forward: false)
      assert(eventually { !there?("n") })
    ensure
      resume(@server)
    end

    test "a cas of memcached that arrives after a confirmed delete is deleted again" do
      require "support/identity_cache"
      @proxy.stop
      @proxy = SlowProxy.new(start_once("memcached").endpoint.fetch("url"))
      remote = lambda do |url, **options|
        ActiveSupport::Cache::MemCacheStore.new(url, protocol: :meta, **options).extend(IdentityCache::MemCacheStoreCAS)
      end
      @far = remote.call(start_once("memcached").endpoint.fetch("url"))
      far.write("k", "old")
      one = machine("six", remote: remote.call("127.0.0.1:#{@proxy.port}", socket_timeout: 0.2))
      @proxy.hold(LATE)
      assert_raises(Timeout::Error) { Timeout.timeout(0.5) { one.cas("k") { "late" } } }
      one.delete("k")
      far.write("k", "late") # memcached's cas itself does not store over a delete
      assert_nil one.read("k")
      put_clock_forward
      assert(eventually { one.read("other") || !far.exist?("k") })
    end

    private

    def remote(**options)
      [:redis_cache_store, { url: "redis://127.0.0.1:#{@proxy.port}", reconnect_attempts: 0, read_timeout: 0.2,
                             coder: Larder::Coder.new(compressor: nil), **options }]
    end

    # Without the proxy.
    def direct
      [:redis_cache_store, { url: @server.endpoint.fetch("url"), coder: Larder::Coder.new(compressor: nil) }]
    end

    # Without the proxy, by a third name.
    def linked(link)
      File.symlink(direct[1][:url].delete_prefix("unix://"), link)
      [:redis_cache_store, direct[1].merge(url: "unix://#{link}")]
    end

    # Without a machine before it.
    def far
      @far ||= ActiveSupport::Cache.lookup_store(direct)
    end

    # @return [Object, nil] whatever the key has, also raw bytes
    def value(store)
      store.read("k") || store.read("k", raw: true)
    end

    # The block's operation is given up, and held back.
    def give_up(pattern = LATE, &block)
      @proxy.hold(pattern)
      reported(&block)
      assert(eventually { @proxy.holds? })
    end

    # The block's operation on "k" takes long, and is given up after a delete of it was listed and applied.
    #
    # @return [Thread] of the operation
    def give_up_late
      one = machine("one", remote: remote(read_timeout: LONG))
      @proxy.hold(/INCRBY/ni)
      operation = Thread.new { reported { yield one } }
      assert(eventually { @proxy.holds? })
      halt(@server)
      @one.delete("k")
      resume(@server)
      assert(eventually { caught_up?(@one) })
      operation
    end

    # @return [String, nil] of a key in the journal
    def state_of(key)
      file = Larder::Cache.open(path_of("one.larder.journal"))
      file.each_key(prefix: "d/").filter_map { |name| file.get(name) if name.end_with?(key) }.first
    end

    # Lets the server get what is held back. Yields then.
    def arrives(key = "k")
      @proxy.release
      assert(eventually { @proxy.idle? && there?(key) }) # a client may have sent it twice
      10.times { yield } if block_given?
    end

    # @return [Boolean]
    def there?(key)
      @asking ||= RedisClient.new(path: @server.endpoint.fetch("url").delete_prefix("unix://"))
      @asking.call("EXISTS", key) == 1
    end

    # Listed changes that were applied are to be repeated now.
    def put_clock_forward
      MovedClock.forward(State::REPEATED_AFTER)
    end

    def assert_ends_without(forward: true)
      put_clock_forward if forward
      assert(eventually do
        @one.read("other") # applies what is due
        yield if block_given?
        !there?("k")
      end)
    end
  end
end
