# frozen_string_literal: true

# Two levels, while the remote store fails: a real Redis that is killed, stopped and started again.

require "support/moved_clock"
require "support/store_case"
require "support/servers"
require "redis"

module LarderStore
  # Two levels and Larder::Remote::Outbox::Journal.
  class LevelsFailuresTest < StoreCase
    TIMEOUT = 0.3
    # Seconds after which each pause is over that follows a failure.
    PAUSES = 3

    setup do
      type = Larder::Lab::Servers.fetch(server_name)
      skip "#{type.title} is not installed" unless type.path

      @server = type.new(directory).tap(&:start)
      @far = ActiveSupport::Cache.lookup_store(remote)
      @one = machine("one")
      @one.write("k", "old")
      @two = machine("two")
      @two.read("k")
    end

    teardown { @server&.stop }

    test "reads of copies go on, and others are misses, reported once" do
      TestServers.kill(@server)
      assert_equal "old", @one.read("k")
      errors = reported { 5.times { assert_nil @one.read("none") } }
      assert_equal [Larder::RemoteError], errors.map(&:class)
      assert_match(/remote store could not read: Redis::/, errors.first.message)
      @one.cache.keep_statistics
      assert_operator Larder::Usage.read(@one.cache.path).rest.failures, :>=, 1
      assert_equal "made", @one.fetch("other") { "made" }
      assert_equal "made", @one.read("other")
      assert_equal({ "k" => "old", "m" => 1 }, @one.fetch_multi("k", "m") { 1 })
    end

    test "an error_handler that raises fails no call, and its error is reported once" do
      failing = machine("failing", error_handler: ->(**) { raise "boom" })
      failing.write("k", "old")
      TestServers.kill(@server)
      errors = reported do
        assert_equal "made", failing.fetch("none", single_flight: true) { "made" }
        assert_equal({ "a" => 1 }, failing.fetch_multi("a") { 1 })
        assert_nil failing.increment("n")
        assert_same true, failing.delete("k")
        failing.write_multi({ "k" => 1, "l" => 2 })
        failing.delete_multi(%w[k l])
      end
      assert_equal %w[boom], errors.map(&:message)
      revive("k" => "old", "l" => "old")
      assert(eventually { failing.read("k").nil? && !@far.exist?("k") && !@far.exist?("l") })
    end

    test "a delete while it is dead is applied before the remote store is read again" do
      TestServers.kill(@server)
      assert_same true, @one.delete("k")
      assert_nil @one.read("k")
      revive("k" => "old")
      assert(eventually { @one.read("k").nil? && !@far.exist?("k") })
      assert_not @far.exist?("k")
      assert_equal "old", @two.read("k"), "the copy of another machine, for local_expires_in"
    end

    test "it is not read until all deletes were applied" do
      TestServers.kill(@server)
      @one.delete_multi(%w[k other])
      revive("k" => "old", "other" => "old")
      stop
      assert_nil @one.read("k")
      resume
      assert(eventually { @one.read("k").nil? && !@far.exist?("k") && !@far.exist?("other") })
    end

    test "a delete survives the death of its process" do
      TestServers.kill(@server)
      run_child { @one.delete("k") }
      revive("k" => "old")
      assert(eventually { @one.read("k").nil? && !@far.exist?("k") })
    end

    test "what is written while it is dead is here at once, and deleted there" do
      TestServers.kill(@server)
      assert_same true, @one.write("k", "new")
      assert_equal "new", @one.read("k")
      revive("k" => "old")
      assert(eventually { @one.read("other").nil? && !@far.exist?("k") })
      assert_equal "new", @one.read("k")
      travel(6) { assert_nil @one.read("k") }
    end

    test "without a place for its file and its journal, a delete is remembered by the process" do
      File.write(path_of("file"), "")
      cache = ActiveSupport::Cache.lookup_store(:larder_store, path_of("file/x.larder"), remote: remote,
                                                                                         error_handler: nil)
      TestServers.kill(@server)
      cache.delete("k")
      assert_nil cache.read("k")
      revive("k" => "old")
      assert(eventually { cache.read("x").nil? && !@far.exist?("k") })
      cache.write("k", "new")
      assert_equal "new", cache.read("k")
    end

    test "with a journal that cannot be opened the remote store is not asked, and the report says why" do
      Dir.mkdir(path_of("odd.larder.journal"))
      cache = ActiveSupport::Cache.lookup_store(:larder_store, path_of("odd.larder"), remote: remote)
      errors = reported { 3.times { assert_nil cache.read("k") } }
      assert_equal 1, errors.size
      assert_match(/journal cannot be read: .*odd.larder.journal/, errors.first.message)
    end

    test "a value that looks like one with tags, of which it has none" do
      @one.write("odd", ["larder/tagged/1", {}, 5])
      assert_equal ["larder/tagged/1", {}, 5], @two.read("odd")
    end

    test "Rails' own coder reads Strings that Larder's has compressed" do
      rails = ActiveSupport::Cache::RedisCacheStore.new(url: @server.endpoint.fetch("url"))
      one = new_store("zlib.larder", remote: [:redis_cache_store, { url: @server.endpoint.fetch("url") }])
      one.write("long", "x" * 5000)
      one.write("list", [1] * 5000)
      assert_equal "x" * 5000, rails.read("long")
      assert_nil rails.read("list")
      rails.write("theirs", ["y"] * 2000, expires_in: 60)
      assert_equal ["y"] * 2000, one.read("theirs")
    end

    test "clear and delete_matched while it is dead are applied later" do
      TestServers.kill(@server)
      @one.delete_matched("k*")
      revive("k" => "old", "other" => 1)
      assert(eventually { @one.read("x").nil? && !@far.exist?("k") })
      assert @far.exist?("other")

      TestServers.kill(@server)
      @one.clear
      revive("other" => 1)
      assert(eventually { @one.read("x").nil? && !@far.exist?("other") })
    end

    test "counters and unless_exist answer nil" do
      TestServers.kill(@server)
      assert_nil @one.increment("n")
      assert_nil @one.write("u", 1, unless_exist: true)
      assert_nil @one.read("u")
    end

    test "with raise_errors each call raises, and a delete is listed all the same" do
      strict = machine("one", raise_errors: true)
      TestServers.kill(@server)
      assert_raises(Larder::RemoteError) { strict.read("none") }
      assert_raises(Larder::RemoteError) { strict.delete("k") }
      assert_nil @one.read("k")
      revive("k" => "old")
      assert(eventually { @one.read("k").nil? && !@far.exist?("k") })
    end

    test "a change that another thread's exception interrupts is listed" do
      changes = { "delete" => ->(store) { store.delete("k") }, "write" => ->(store) { store.write("k", "new") },
                  "clear" => lambda(&:clear), "write_multi" => ->(store) { store.write_multi({ "k" => 1, "l" => 2 }) } }
      changes.each do |name, change|
        @far.write("k", "old")
        asking = machine("one") # with a circuit breaker of its own, which is closed
        stop
        assert_raises(Timeout::Error) { Timeout.timeout(TIMEOUT / 3) { change.call(asking) } }
        TestServers.kill(@server)
        @far = ActiveSupport::Cache.lookup_store(remote)
        revive("k" => "old")
        assert_equal "old", @far.read("k")
        assert(eventually { @one.read("k").nil? && !@far.exist?("k") }, name)
        assert_not @one.stats[:remote][:waiting], name
      end
    end

    test "a change that the remote store refuses as a mistake is not listed" do
      assert_raises(ArgumentError) { @one.delete_matched(/k/) }
      assert_not @one.stats[:remote][:waiting]
    end

    test "a read-only server is one that fails" do
      @far.redis.with { |redis| redis.call("replicaof", "127.0.0.1", "1") }
      assert_same true, @one.delete("k")
      assert_nil @one.read("k")
      @far.redis.with { |redis| redis.call("replicaof", "no", "one") }
      assert(eventually { @one.read("x").nil? && !@far.exist?("k") })
    end

    test "a full server is one that fails" do
      @far.redis.with { |redis| redis.call("config", "set", "maxmemory", "1") }
      assert_same true, @one.write("k", "new")
      assert_equal "new", @one.read("k")
      @far.redis.with { |redis| redis.call("config", "set", "maxmemory", "0") }
      assert(eventually { @one.read("x").nil? && !@far.exist?("k") })
    end

    test "bytes that nobody has dumped are a miss" do
      @far.redis.with { |redis| redis.set("bad", "\x00\x11garbage") }
      assert_nil @one.read("bad")
      assert_equal 1, @one.fetch("bad") { 1 }
      assert_equal 1, @two.read("bad")
    end

    test "of many reads of a remote store that hangs only the first ones wait, and it is asked again afterwards" do
      stop
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      20.times { |number| assert_nil @one.read("none#{number}") }
      assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, :<, TIMEOUT * 20 / 2
      resume
      @far.write("later", 1)
      assert(eventually { @one.read("later") == 1 })
    end

    KEPT = { expires_in: 3600, stale_while_revalidate: 60, stale_if_error: 600 }.freeze

    on_both_paths "an old copy is served while the remote store is dead, and computed again once" do
      @two.fetch("j", **KEPT) { "old" }
      TestServers.kill(@server)
      travel(10, with_usec: true) do
        assert_equal "old", @two.fetch("j", **KEPT) { "new" }
        assert(eventually { @two.fetch("j", **KEPT) { flunk } == "new" })
        assert_equal "new", @two.read("j")
      end
    end

    on_both_paths "if its block raises, for as long as stale_if_error says" do
      @two.fetch("j", **KEPT) { "old" }
      TestServers.kill(@server)
      travel(300, with_usec: true) { assert_equal "old", @two.fetch("j", **KEPT) { raise "no database" } }
      travel(700, with_usec: true) { assert_raises(RuntimeError) { @two.fetch("j", **KEPT) { raise "no database" } } }
    end

    on_both_paths "an old copy is not served if the remote store answers, nor if it was deleted" do
      @two.fetch("j", **KEPT) { "old" }
      @one.write("j", "new", expires_in: 3600)
      travel(10, with_usec: true) do
        assert_equal "new", @two.fetch("j", **KEPT) { flunk }
        TestServers.kill(@server)
        @two.delete("j")
        assert_equal "computed", @two.fetch("j", **KEPT) { "computed" }
      end
    end

    test "with soft_timeout an old copy is the answer to a remote store that hangs" do
      slow = new_store("slow.larder", remote: [:redis_cache_store, { url: remote_url, read_timeout: 60 }])
      options = { expires_in: 3600, stale_if_error: 600, soft_timeout: 0.1 }
      slow.fetch("j", **options) { "old" }
      stop
      travel(10, with_usec: true) do
        began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        assert_equal "old", slow.fetch("j", **options) { "new" }
        assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, :<, 30
      end
      resume
      Larder::Store::Refreshes.await(LONGEST)
    end

    test "a journal that was emptied while it listed changes clears the remote store before it is read again" do
      TestServers.kill(@server)
      run_child { machine("late").delete("k") }
      assert changes_listed?("late")
      made_by_newer(path_of("late.larder.journal"))
      revive("k" => "old", "other" => 1)
      late = machine("late")
      assert(eventually { late.read("x").nil? && !@far.exist?("k") })
      assert_not @far.exist?("other")
      assert(eventually { late.read("x").nil? && !changes_listed?("late") })
    end

    test "a journal that lists nothing may be emptied" do
      TestServers.kill(@server)
      run_child { @one.delete("k") }
      revive("k" => "old", "other" => 1)
      run_child { eventually { @one.read("x").nil? && !changes_listed?("one") } }
      assert_not @far.exist?("k")
      made_by_newer(path_of("one.larder.journal"))
      assert(eventually { @one.read("other") == 1 })
    end

    test "while a later version of Larder has a journal that lists changes, the remote store is not asked" do
      TestServers.kill(@server)
      @one.delete("k")
      format = made_by_newer(path_of("one.larder.journal"))
      revive("k" => "old")
      output = run_ruby(<<~RUBY, path_of("one.larder"), *remote_url, options: ["-rbundler/setup"])
        require "active_support/cache/larder_store"
        ActiveSupport::Cache.format_version = 7.1
        told = []
        store = ActiveSupport::Cache::LarderStore.new(ARGV.first, remote: [:redis_cache_store, { url: ARGV.last }],
          error_handler: ->(exception:, **) { told << exception.message[/in use by a newer/] })
        p store.read("y"), store.delete("other"), told.uniq
      RUBY
      assert_equal ["nil", "false", '["in use by a newer"]'], output.lines(chomp: true)
      made_by_newer(path_of("one.larder.journal"), format)
      assert(eventually { @one.read("x").nil? && !@far.exist?("k") })
    end

    test "what is listed while another process applies the list is not forgotten" do
      %i[delete clear].each do |kind|
        journal, other = Array.new(2) { Larder::Remote::Outbox::Journal.new(path_of("#{kind}.journal")) }
        applied = []
        journal.send(:cache).define_singleton_method(:set) do |*arguments, **options|
          other.each { |*change| applied << change }
          super(*arguments, **options)
        end
        journal.note(kind, ["k"])
        assert(!journal.empty? || applied == [[kind, ["k"]]], "#{kind} is listed, and nobody looks for it")
      end
    end

    test "in a journal that is full, operations that may arrive late make room for changes" do
      journal = Larder::Remote::Outbox::Journal.new(path_of("full.journal"))
      25_000.times { |number| journal.expect(["#{"key" * 40}#{number}"]) }
      journal.note(:delete, Array.new(100) { |number| "#{"changed" * 20}#{number}" })
      assert_equal [100, false], journal.stats.values_at(:listed, :overflown)
    end

    test "of several callers that find a journal overflown, one clears the remote store" do
      journal, other = Array.new(2) { Larder::Remote::Outbox::Journal.new(path_of("overflown.journal")) }
      journal.note(:delete, ["k"])
      journal.send(:overflow)
      clears = []
      journal.recover do |prefixes|
        clears << prefixes
        other.recover { |again| clears << again }
      end
      assert_equal [[""]], clears
      assert_not_predicate other, :overflown?
    end

    test "a journal that overflows clears the remote store before it is read again" do
      TestServers.kill(@server)
      20_000.times.each_slice(1000) { |slice| @one.delete_multi(slice.map { |number| "#{"key" * 40}#{number}" }) }
      revive("k" => "old", "key" => "old")
      assert_equal "made", @one.fetch("key") { "made" }
      assert(eventually { @one.read("x").nil? && !@far.exist?("k") })
      assert(eventually { @one.write("k", "new") && machine("three").read("k") == "new" })
    end

    private

    def server_name
      "redis"
    end

    def remote
      [:redis_cache_store, { url: @server.endpoint.fetch("url"), reconnect_attempts: 0, read_timeout: TIMEOUT,
                             error_handler: nil, coder: Larder::Coder.new(serializer: :native) }]
    end

    def remote_url
      @server.endpoint.fetch("url")
    end

    # @return [Integer] the version of the file's format before
    def made_by_newer(path, version = 99)
      before = File.binread(path, 4, 8).unpack1("L<")
      File.open(path, "r+b") { |file| [8, 4104].each { |at| file.pwrite([version].pack("L<"), at) } }
      before
    end

    def machine(name, **options)
      new_store("#{name}.larder", remote: remote, **options)
    end

    # True if a file says so, also after a crash.
    def changes_listed?(name)
      Dir.glob(path_of("#{name}.larder.journal.*.pending")).any?
    end

    # It has lost its memory; these entries are there again, as of a copy. The pauses after its failure are over.
    def revive(entries)
      @server.start
      @far.write_multi(entries)
      MovedClock.forward(PAUSES)
    end

    def stop
      Process.kill(:STOP, @server.pid)
    end

    def resume
      Process.kill(:CONT, @server.pid)
      MovedClock.forward(PAUSES)
    end

    def run_child(&block)
      pid = fork do
        block.call
        Process.kill(:KILL, Process.pid)
      end
      Process.wait(pid)
    end
  end

  # The same, of which a few tests run each time.
  class LevelsFailuresOverValkeyTest < LevelsFailuresTest
    def self.runnable_methods
      ENV["LARDER_SLOW_TESTS"] ? super : super.grep(/reads_of_copies|death_of_its_process|read-only/)
    end

    private

    def server_name
      "valkey"
    end
  end
end
