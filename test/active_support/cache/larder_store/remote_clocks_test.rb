# frozen_string_literal: true

# Two machines whose clocks are a minute apart: the second is the one of a block of travel, or a child process in it.
# The server counts in its own time.

require "support/remote_case"
require "support/solid_cache_application"
require "redis"

module LarderStore
  # Solid Cache, which compares the clocks of writers and readers.
  class SolidCacheClocksTest < RemoteCase
    setup { @one, @two = machine("one"), machine("two") }

    test "an entry is found longer by a machine that is behind its writer, and less long by one that is ahead" do
      travel(60, with_usec: true) { @two.write("k", 1, expires_in: 30) }
      travel(40, with_usec: true) { assert_equal 1, @one.read("k") }
      travel(91, with_usec: true) { assert_nil @one.read("k") }
      @one.write("j", 1, expires_in: 30)
      travel(60, with_usec: true) { assert_nil @two.read("j") }
    end

    private

    def remote
      @remote ||= SolidCacheApplication.cache_store
      [@remote.first, { coder: Larder::Coder.new, **@remote.last }]
    end
  end

  # Two levels.
  class RemoteClocksTest < RemoteCase
    LOCAL = 2
    # Seconds by which the second machine is ahead or behind.
    APART = [60, -60].freeze

    setup do
      @server = start_once("redis")
      far.clear
      @one, @two = machine("one", local_expires_in: LOCAL), machine("two", local_expires_in: LOCAL)
    end

    APART.each do |apart|
      test "a copy is used for local_expires_in of its machine, which is #{apart} s ahead" do
        @one.write("k", "old", expires_in: 600)
        travel(apart, with_usec: true) { assert_equal "old", @two.read("k") }
        far.write("k", "new")
        travel(apart + LOCAL - 1, with_usec: true) { assert_equal "old", @two.read("k") }
        travel(apart + LOCAL + 0.1, with_usec: true) { assert_equal "new", @two.read("k") }
        @one.delete("k")
        travel(apart + (2 * LOCAL) + 0.2, with_usec: true) { assert_nil @two.read("k") }
      end

      test "an entry ends when the server's time to live has, by whichever machine it was written, #{apart} s ahead" do
        @one.write("one", 1, expires_in: 1)
        travel(apart, with_usec: true) do
          @two.read("one")
          @two.write("two", 2, expires_in: 1)
        end
        @one.read("two")
        Kernel.sleep(1.1)
        assert_empty far.read_multi("one", "two")
        travel(LOCAL, with_usec: true) { assert_empty @one.read_multi("one", "two") }
        travel(apart + LOCAL, with_usec: true) { assert_empty @two.read_multi("one", "two") }
      end

      test "single flight computes once where the other machine is #{apart} s ahead" do
        computing = Thread.new { @one.fetch("k", single_flight: true, expires_in: 600) { Kernel.sleep(0.5) && "made" } }
        assert(eventually { far.exist?("k/larder/lease") })
        value = in_child do
          travel(apart, with_usec: true) { @two.fetch("k", single_flight: true, expires_in: 600) { "made again" } }
        end
        assert_equal %w[made made], [computing.value, value]
      end
    end

    test "an entry of a machine whose clock is behind by more than its time to live is a miss there" do
      travel(-60, with_usec: true) { @two.write("k", 1, expires_in: 30) }
      assert_nil @one.read("k")
      assert_equal "made", @one.fetch("k", expires_in: 30) { "made" }
    end

    test "an entry is a miss earlier on a machine that is ahead of its writer, a counter and raw bytes are not" do
      @one.write("k", 1, expires_in: 30)
      @one.write("raw", "bytes", raw: true, expires_in: 30)
      @one.increment("n", 5, expires_in: 30)
      travel(60, with_usec: true) do
        assert_nil @two.read("k")
        assert_equal %w[bytes 5], [@two.read("raw", raw: true), @two.read("n", raw: true)]
      end
    end

    test "a copy is used longer by as much as the clock of its machine is set back" do
      travel(60, with_usec: true) { @one.write("k", "old", expires_in: 600) }
      far.write("k", "new")
      travel(59, with_usec: true) { assert_equal "old", @one.read("k") }
      travel(60 + LOCAL + 0.1, with_usec: true) { assert_equal "new", @one.read("k") }
    end

    test "machines that are more than the back-off apart each run a block that raises" do
      options = { expires_in: 1, stale_if_error: 600 }
      @one.fetch("k", **options) { "old" }
      runs = 0
      failing = lambda do |store|
        store.fetch("k", **options) { (runs += 1) && raise(IOError, "no database") }
      end
      travel(10, with_usec: true) { 2.times { assert_equal "old", failing.call(@one) } }
      travel(30, with_usec: true) { 2.times { assert_equal "old", failing.call(@two) } }
      assert_equal 2, runs
    end

    # What the second machine runs: it answers each line by its clock and what it reads.
    PROGRAM = <<~RUBY
      require "active_support"
      require "active_support/cache/larder_store"
      cache = ActiveSupport::Cache.lookup_store(:larder_store, *Marshal.load(ARGV.first.unpack1("m")))
      $stdout.sync = true
      puts [Time.now.to_i, cache.read("k")].join(" ") while $stdin.gets
    RUBY

    slow_test "another clock of a whole process" do
      library = Dir["/usr/lib/*/faketime/libfaketime.so.1"].first || skip("libfaketime is not installed")
      given = [path_of("three.larder"), { remote: [:redis_cache_store, { url: @server.endpoint.fetch("url") }],
                                          local_expires_in: 1 }]
      variables = { "LD_PRELOAD" => library, "FAKETIME" => "+60", "FAKETIME_DONT_FAKE_MONOTONIC" => "1" }
      command = ["ruby", "-rbundler/setup", "-Ilib", "-e", PROGRAM, [Marshal.dump(given)].pack("m0")]
      IO.popen([variables, *command], "r+") do |two|
        ask = -> { two.puts || two.gets.split }
        rails = ActiveSupport::Cache::RedisCacheStore.new(url: @server.endpoint.fetch("url"))
        rails.write("k", "old", expires_in: 600)
        time, value = ask.call
        assert_equal "old", value
        assert_operator time.to_i, :>, Time.now.to_i + 30
        rails.write("k", "new", expires_in: 600)
        assert_equal "old", ask.call.last
        Kernel.sleep(1.1)
        assert_equal "new", ask.call.last
      end
    end

    private

    def remote
      [:redis_cache_store, { url: @server.endpoint.fetch("url"), coder: Larder::Coder.new }]
    end

    def far
      ActiveSupport::Cache.lookup_store(remote)
    end
  end
end
