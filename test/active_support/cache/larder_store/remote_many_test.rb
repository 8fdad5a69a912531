# frozen_string_literal: true

# The multi forms over a real Redis: leases and values of many keys by one call each.

require "support/remote_case"
require "redis"

module LarderStore
  class RemoteManyTest < RemoteCase
    NAMES = %w[a b c d].freeze
    FLIGHT = { single_flight: true, wait: 300, lease: 300 }.freeze
    STALE = { stale_if_error: 600, stale_while_revalidate: 600, expires_in: 60 }.freeze

    setup do
      @server = start_once("redis")
      redis.flushall
      @one, @two = machine("one"), machine("two")
    end

    test "of callers on two machines that miss the same keys, one computes each, and both answer all" do
      runs = Queue.new
      calls = [@one, @two, @one, @two].map do |store|
        Thread.new { store.fetch_multi(*NAMES, **FLIGHT) { |name| (runs << name) && Kernel.sleep(0.02) && name } }
      end
      assert_equal [NAMES.to_h { |name| [name, name] }], calls.map(&:value).uniq
      assert_equal NAMES, Array.new(runs.size) { runs.pop }.sort
      assert_empty leases
    end

    test "a value that another machine has stored since it was missed is the answer" do
      computed = []
      before_leases(@one) { @two.write("b", "theirs") }
      values = @one.fetch_multi(*NAMES, **FLIGHT) { |name| (computed << name) && name }
      assert_equal [%w[a c d], "theirs"], [computed, values["b"]]
      assert_empty leases
    end

    test "deletes and writes of another machine before the values are stored win" do
      { "delete" => [-> { @two.delete("b") }, nil], "write" => [-> { @two.write("b", "new") }, "new"],
        "delete_multi" => [-> { @two.delete_multi(%w[b x]) }, nil] }.each do |name, (change, left)|
        values = @one.fetch_multi(*NAMES, **FLIGHT) { |key| (change.call if key == "c") || key }
        assert_equal "b", values["b"], name
        assert_equal [left, left, "d"], [@one.read("b"), @two.read("b"), @two.read("d")], name
        assert_empty leases
        [@one, @two].each(&:clear)
      end
    end

    test "so it is for raw values" do
      { "delete" => [-> { @two.delete("b") }, nil], "write" => [-> { @two.write("b", "new", raw: true) }, "new"],
        "delete on its own machine" => [-> { @one.delete("b") }, nil] }.each do |name, (change, left)|
        values = @one.fetch_multi(*NAMES, raw: true, **FLIGHT) { |key| (change.call if key == "c") || key }
        assert_equal "b", values["b"], name
        assert_equal [left, "d"], %w[b d].map { |key| @two.read(key, raw: true) }, name
        assert_empty leases
        @one.clear
      end
    end

    test "a machine that was stopped while another one took its leases over stores nothing" do
      values = @one.fetch_multi("a", "b", **FLIGHT) do |key|
        redis.del("a/larder/lease", "b/larder/lease") && @two.fetch_multi("a", "b", **FLIGHT) { "next" } if key == "b"
        "late"
      end
      assert_equal({ "a" => "late", "b" => "late" }, values)
      assert_equal({ "a" => "next", "b" => "next" }, @one.read_multi("a", "b"))
    end

    test "keys of slow blocks are given back: another machine need not wait for all of them" do
      begun, go_on = Queue.new, Queue.new
      owner = Thread.new do
        @one.fetch_multi(*NAMES, **FLIGHT) { |name| (begun << name) && (name == "a" ? Kernel.sleep(0.3) : go_on.pop) }
      end
      2.times { begun.pop } # a is over, and b has begun
      assert_equal %w[c d], @two.fetch_multi("c", "d", **FLIGHT) { |name| name }.values
      go_on << "b"
      assert_equal %w[b c d], owner.value.values.drop(1)
    end

    test "values before an error of a block are stored, and no leases are left" do
      assert_raises(RuntimeError) { @one.fetch_multi(*NAMES, **FLIGHT) { |name| name == "c" ? raise("no") : name } }
      assert_equal({ "a" => "a", "b" => "b" }, @two.read_multi(*NAMES))
      assert_empty leases
      assert_equal %w[a b C D], @two.fetch_multi(*NAMES, **FLIGHT, &:upcase).values
    end

    test "an old value is the answer where a block raises, and the others are stored" do
      @one.write_multi(NAMES.to_h { |name| [name, "old"] }, **STALE)
      travel(800) do
        assert_raises(RuntimeError) { @one.fetch_multi(*NAMES, **FLIGHT, **STALE) { raise "too old" } }
      end
      redis.flushall
      [@one, @two].each { |store| store.cache.clear }
      @one.write_multi(NAMES.to_h { |name| [name, "old"] }, stale_if_error: 600, expires_in: 60)
      travel(100) do
        values = reporting do
          @one.fetch_multi(*NAMES, **FLIGHT, stale_if_error: 600, expires_in: 60) do |name|
            name == "b" ? raise("no") : "new"
          end
        end
        assert_equal %w[new old new new], values.values
        assert_equal %w[new new new], @two.read_multi(*NAMES).values
      end
      assert_empty leases
    end

    test "if Redis dies while values are computed, the call answers them, and they are deleted later" do
      values = reporting do
        @one.fetch_multi(*NAMES, **FLIGHT) { |name| TestServers.kill(@server) if name == "b" && alive?; name }
      end
      assert_equal NAMES, values.values
      assert @one.stats[:remote][:waiting]
    ensure
      @server.start unless alive?
    end

    test "if it dies before leases are taken, the call computes" do
      before_leases(@one) { TestServers.kill(@server) }
      assert_equal(NAMES, reporting { @one.fetch_multi(*NAMES, **FLIGHT) { |name| name } }.values)
    ensure
      @server.start unless alive?
    end

    test "the remote store keeps each entry for as long as it lives, also with jitter" do
      names = Array.new(50) { |number| "k#{number}" }
      @one.write_multi(names.to_h { |name| [name, 1] }, expires_in: 1000, jitter: 0.5)
      lives = names.to_h { |name| [name, @one.remote.read(name).expires_at - Time.now.to_f] }
      assert_operator lives.values.max - lives.values.min, :>, 100
      assert_empty(lives.reject { |name, life| redis.pttl(name) / 1000.0 > life - 1 })
    end

    test "write_multi gives all entries their tags" do
      entries = NAMES.to_h { |name| [name, name] }
      @one.write_multi(entries, tags: [])
      2.times do
        @one.write_multi(entries, tags: %w[t u])
        assert_equal [entries] * 2, [@one, @two].map { |store| store.read_multi(*NAMES) }
        @two.delete_tagged("u")
        @one.cache.clear # there is no backplane
        assert_equal [{}] * 2, [@one, @two].map { |store| store.read_multi(*NAMES) }
      end
    end

    test "a tag deletes what write_multi has stored since a deletion of it, also while that waits to be repeated" do
      delete_later("t")
      @one.write_multi({ "a" => 1 }, tags: ["t"])
      @one.delete_tagged("t")
      assert_nil @one.read("a")
    end

    test "write_multi with such a tag succeeds, and lists no changes" do
      @one.write_multi({ "a" => 1 }, tags: ["t"]) # knows the tag
      delete_later("t")
      assert_empty(reported { @one.write_multi({ "a" => 2, "b" => 2 }, tags: ["t"]) })
      assert_not @one.stats[:remote][:waiting]
      assert_equal({ "a" => 2, "b" => 2 }, @one.read_multi("a", "b"))
    end

    test "entries are found also if another machine has deleted their tag since this one has seen it" do
      entries = NAMES.to_h { |name| [name, name] }
      3.times do
        @one.write_multi(entries, tags: %w[t u])
        @two.delete_tagged("t")
        redis.del(redis.keys("*larder/tag/u").first) # the remote store has forgotten it
        @one.write_multi(entries, tags: %w[t u])
        [@one, @two].each { |store| store.cache.clear }
        assert_equal [entries] * 2, [@one, @two].map { |store| store.read_multi(*NAMES) }
      end
    end

    test "a tag that another machine deletes while values are computed deletes them" do
      @one.fetch_multi(*NAMES, tags: ["t"]) { |name| (@two.delete_tagged("t") if name == "c") || name }
      @one.fetch_multi("e", "f", tags: ["t"], **FLIGHT) { |name| (@two.delete_tagged("t") if name == "e") || name }
      @one.cache.clear
      assert_equal [{}] * 2, [@one, @two].map { |store| store.read_multi(*NAMES, "e", "f") }
    end

    test "a block that writes its key itself, after another machine, does not replace that one's value" do
      @one.fetch("a", **FLIGHT) do
        @two.write("a", "theirs")
        2.times { @one.write("a", "own", **FLIGHT) }
        "made"
      end
      assert_equal "theirs", @two.read("a")
      assert_empty leases
    end

    test "an exception of another thread leaves no leases" do
      begun = Queue.new
      caller = Thread.new { @one.fetch_multi(*NAMES, **FLIGHT) { (begun << true) && Kernel.sleep } }
      caller.report_on_exception = false
      begun.pop
      caller.kill.join
      assert_empty leases
      assert_equal NAMES, @two.fetch_multi(*NAMES, **FLIGHT) { |name| name }.values
    end

    private

    def redis
      @redis ||= Redis.new(url: @server.endpoint["url"])
    end

    def leases
      redis.keys("*/larder/lease")
    end

    # @return [Object] the block's value
    def reporting
      value = nil
      reported { value = yield }
      value
    end

    # Deletes a tag while the remote store does not answer. The deletion is applied then, and waits to be repeated.
    def delete_later(tag)
      @one.remote.pause
      reported { @one.delete_tagged(tag) }
      assert(eventually { caught_up?(@one) })
    end

    # Runs the block once before leases are taken.
    def before_leases(store, &block)
      blocks = [block]
      store.remote.scripted_leases.singleton_class.prepend(Module.new do
        define_method(:take) do |*arguments|
          blocks.pop&.call
          super(*arguments)
        end
      end)
    end

    def alive?
      Process.kill(0, @server.pid)
      true
    rescue Errno::ESRCH, TypeError
      false
    end

    def remote
      [:redis_cache_store, { url: @server.endpoint["url"] }]
    end
  end
end
