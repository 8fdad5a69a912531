# frozen_string_literal: true

require "support/store_case"
require "action_controller"
require "concurrent/promises"
require "timeout"

module LarderStoreTests
  # `single_flight: true`: one caller computes, the others wait, and a delete while it computes wins. Each test
  # runs in C and on ActiveSupport's path.
  class SingleFlightTest < StoreCase
    FLIGHT = { single_flight: true }.freeze

    teardown { assert_empty Larder::Store::Flights.held }

    # A block that says that it runs, and goes on when it is told to.
    class Gate
      def initialize
        @begun, @open = Queue.new, Queue.new
      end

      def pass
        @begun << true
        @open.pop
      end

      def await = Timeout.timeout(Processes::LONGEST) { @begun.pop }
      def open = @open << true
    end

    # Computes in another thread, and yields while it does.
    def while_computing(key = "key", value = "computed", cache: store, **options)
      gate = Gate.new
      thread = Thread.new do
        cache.fetch(key, **FLIGHT, **options) do
          gate.pass
          value
        end
      end
      gate.await
      yield
      gate.open
      thread.value
    end

    on_both_paths "many threads that miss run the block once, and all get its value" do
      runs = Queue.new
      values = Array.new(20) { Thread.new { store.fetch("key", FLIGHT) { runs << sleep(0.05) && { "a" => 1 } } } }
      assert_equal [{ "a" => 1 }], values.map(&:value).uniq
      assert_equal 1, runs.size
    end

    on_both_paths "many processes that miss run the block once, and all get its value" do
      cache = new_store(single_flight: true)
      children = Array.new(4) do
        fork do
          threads = Array.new(10) do
            Thread.new { cache.fetch("key") { cache.increment("runs") && sleep(0.05) && "computed" } }
          end
          exit!(threads.all? { |thread| thread.value == "computed" })
        end
      end
      assert(children.all? { |child| wait_for(child).success? })
      assert_equal 1, cache.read_counter("runs")
    end

    test "a caller waits no longer than it is willing to, computes, and stores nothing" do
      computed = while_computing do
        assert_equal "own", store.fetch("key", wait: 0.01, **FLIGHT) { "own" }
        assert_nil store.read("key")
      end
      assert_equal ["computed", "computed"], [computed, store.read("key")]
    end

    test "the block that raises, throws, breaks, is killed or interrupted frees those who wait" do
      ways = { raise: -> { raise ArgumentError }, throw: -> { throw :out }, exit: -> { Thread.current.kill },
               timeout: -> { sleep } }
      ways.each do |name, way|
        gate = Gate.new
        owner = Thread.new do
          catch(:out) do
            Timeout.timeout(name == :timeout ? 0.05 : 60) do
              store.fetch(name, FLIGHT) { gate.pass && way.call }
            end
          end
        rescue ArgumentError, Timeout::Error
          nil
        end
        gate.await
        waiter = Thread.new { store.fetch(name, wait: 60, **FLIGHT) { "second" } }
        gate.open
        assert_equal "second", waiter.value, name
        owner.join
        assert_equal "second", store.read(name), name
      end
    end

    on_both_paths "a block that is left by break stores nothing and frees the key" do
      [1].each { store.fetch("key", FLIGHT) { break } }
      assert_equal "second", store.fetch("key", wait: 60, **FLIGHT) { "second" }
    end

    test "a process that is killed while it computes frees those who wait" do
      read, write = IO.pipe
      owner = fork do
        store.fetch("key", FLIGHT) do
          write << "."
          sleep
        end
      end
      read.readpartial(1)
      waiter = Thread.new { store.fetch("key", wait: 60, **FLIGHT) { "second" } }
      Process.kill(:KILL, owner)
      Process.wait(owner)
      assert_equal "second", waiter.value
    end

    test "a process that is stopped beyond its lease is overtaken, and does not store over the other" do
      read, write = IO.pipe
      owner = fork do
        store.fetch("key", lease: 0.2, **FLIGHT) do
          write << "."
          Process.kill(:STOP, Process.pid)
          "late"
        end
      end
      read.readpartial(1)
      assert_equal "second", store.fetch("key", wait: 60, **FLIGHT) { "second" }
      Process.kill(:CONT, owner)
      assert Process.wait2(owner).last.success?
      assert_equal "second", store.read("key")
    end

    {
      "delete" => ->(cache) { cache.delete("key") }, "clear" => lambda(&:clear),
      "delete_multi" => ->(cache) { cache.delete_multi(["key"]) },
      "delete_matched" => ->(cache) { cache.delete_matched(/key/) }
    }.each do |name, change|
      on_both_paths "a #{name} while the block runs wins over its value" do
        assert_equal("computed", while_computing { change.call(store) })
        assert_nil store.read("key")
      end
    end

    on_both_paths "a write, add or increment while the block runs wins over its value" do
      while_computing { store.write("key", "written") }
      assert_equal "written", store.read("key")
      while_computing("added") { assert store.write("added", 1, unless_exist: true) }
      assert_equal 1, store.read("added")
      while_computing("counted") { assert_equal 1, store.increment("counted") }
      assert_equal 1, store.read("counted")
    end

    on_both_paths "a delete frees those who wait, and they compute anew" do
      values = []
      while_computing do
        waiter = Thread.new { store.fetch("key", wait: 60, **FLIGHT) { "after the delete" } }
        sleep 0.03
        store.delete("key")
        values << waiter.value
      end
      assert_equal ["after the delete"], values
      assert_equal "after the delete", store.read("key")
    end

    on_both_paths "an entry that is there makes nobody wait" do
      store.write("key", nil)
      assert_nil(store.fetch("key", FLIGHT) { flunk "the block ran" })
    end

    on_both_paths "an entry of another version is computed once, and stays for its version meanwhile" do
      store.write("key", "one", version: 1)
      while_computing("key", "two", version: 2) do
        assert_equal "one", store.read("key", version: 1)
        assert_equal "own", store.fetch("key", version: 2, wait: 0, **FLIGHT) { "own" }
      end
      assert_equal "two", store.fetch("key", version: 2, **FLIGHT) { flunk "the block ran" }
    end

    on_both_paths "an entry that has expired is computed once" do
      store.write("key", "old", expires_in: 10)
      travel 11.seconds do
        while_computing do
          assert_nil store.read("key")
          assert_equal "own", store.fetch("key", wait: 0, **FLIGHT) { "own" }
        end
        assert_equal "computed", store.read("key")
      end
    end

    on_both_paths "race_condition_ttl does not keep an entry that has expired from being computed" do
      options = { expires_in: 10, race_condition_ttl: 20, **FLIGHT }
      store.fetch("key", options) { "old" }
      travel 11.seconds do
        while_computing("key", "new", **options) do
          assert_equal "own", store.fetch("key", options.merge(wait: 0)) { "own" }
        end
        assert_equal "new", store.fetch("key", options) { flunk "the block ran" }
      end
    end

    # Places where a block has work done that it waits for, and uses of the block's key in that work.
    AWAITED = {
      "thread" => ->(work) { Thread.new { work.call }.value },
      "thread of a thread" => ->(work) { Thread.new { Thread.new { work.call }.value }.value },
      "promise" => ->(work) { Concurrent::Promises.future { work.call }.value! }
    }.freeze
    SAME_KEY = {
      fetch: ->(cache, options) { cache.fetch("key", **options) { "inner" } },
      fetch_multi: ->(cache, options) { cache.fetch_multi("key", **options) { "inner" }["key"] },
      read: ->(cache, options) { cache.read("key", **options) || "inner" }
    }.freeze
    SHORT_WAIT = { **FLIGHT, wait: 0.1, lease: 600 }.freeze

    AWAITED.to_a.product(SAME_KEY.to_a).each do |(name, awaited), (method, call)|
      next if [name, method] == ["promise", :read] # a read is for a write of its thread, which is one of a pool here

      on_both_paths "wait: ends the wait of a #{name} that a block waits for, and that does a #{method} of its key" do
        waited = []
        found = ActiveSupport::Notifications.subscribed(->(event) { waited << event.payload[:waited] },
                                                        "compute_alone.larder") do
          store.fetch("key", **SHORT_WAIT) do
            assert_equal("inner", awaited.call(-> { call.call(store, SHORT_WAIT) }))
            "outer"
          end
        end
        assert_equal [[true], "outer", "outer"], [waited, found, store.read("key")]
      end
    end

    on_both_paths "so it does for a process that a block waits for" do
      found = store.fetch("key", **SHORT_WAIT) do
        assert_equal "inner", in_child { new_store.fetch("key", **SHORT_WAIT) { "inner" } }
        "outer"
      end
      assert_equal %w[outer outer], [found, store.read("key")]
    end

    on_both_paths "a nested call of the same key computes by itself" do
      assert_equal(3, store.fetch("key", FLIGHT) { store.fetch("key", FLIGHT) { 1 } + 2 })
      assert_equal 3, store.read("key")
      fiber = -> { Fiber.new { store.fetch("other", FLIGHT) { 1 } }.resume }
      assert_equal(3, store.fetch("other", FLIGHT) { fiber.call + 2 })
    end

    # The least of a fiber scheduler: fibers that sleep.
    class Sleepers
      def initialize = @until = {}
      def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:resume)
      def kernel_sleep(seconds = nil) = block(:sleep, seconds)
      def unblock(_blocker, fiber) = @until[fiber] = 0

      def block(_blocker, seconds = nil)
        @until[Fiber.current] = Process.clock_gettime(Process::CLOCK_MONOTONIC) + (seconds || 3600)
        Fiber.yield
        true
      end

      def io_wait(io, _events, seconds) = io.wait(seconds)

      def close
        until @until.empty?
          fiber, = @until.min_by(&:last)
          left = @until.delete(fiber) - Process.clock_gettime(Process::CLOCK_MONOTONIC)
          Thread.new { sleep([left, 0].max) }.join
          fiber.resume
        end
      end
    end

    test "with a fiber scheduler a fiber waits for another of its thread, which runs meanwhile" do
      values = []
      store # is opened before
      Thread.new do
        Fiber.set_scheduler(Sleepers.new)
        Fiber.schedule { values << store.fetch("key", FLIGHT) { sleep(0.05) && "computed" } }
        2.times { Fiber.schedule { values << store.fetch("key", wait: 60, **FLIGHT) { flunk "it waits" } } }
      end.join
      assert_equal %w[computed computed computed], values
    end

    test "with a fiber scheduler the end of a request leaves the leases of other fibers" do
      store # is opened before
      Thread.new do
        Fiber.set_scheduler(Sleepers.new)
        Fiber.schedule { Larder::Store::Flights.begin_work && sleep(0.02) && Larder::Store::Flights.end_work }
        Fiber.schedule { store.fetch("key", FLIGHT) { sleep(0.05) && "computed" } }
      end.join
      assert_equal "computed", store.read("key")
    end

    test "two threads that need each other's keys do not wait for each other" do
      gates = { "a" => Queue.new, "b" => Queue.new }
      threads = [%w[a b], %w[b a]].map do |outer, inner|
        Thread.new do
          store.fetch(outer, wait: 60, **FLIGHT) do
            gates[inner] << true
            Timeout.timeout(LONGEST) { gates[outer].pop }
            store.fetch(inner, wait: 60, **FLIGHT) { "#{inner} alone" }
          end
        end
      end
      values = threads.map(&:value)
      assert_includes values, "a alone"
      assert_equal values, store.read_multi("a", "b").values
    end

    test "an interrupt reaches a thread that waits" do
      while_computing do
        assert_raises(Timeout::Error) { Timeout.timeout(0.05) { store.fetch("key", wait: 60, **FLIGHT) { flunk } } }
      end
    end

    test "nobody waits with the GVL or processor time" do
      used = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      turns = 0
      while_computing do
        waiters = Array.new(10) { Thread.new { store.fetch("key", wait: 0.3, **FLIGHT) { "own" } } }
        turns += 1 while waiters.any?(&:alive?) && sleep(0.001)
      end
      assert_operator turns, :>, 20, "this thread ran while others waited"
      assert_operator Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - used, :<, 1
    end

    on_both_paths "nil is not stored with skip_nil, and the next caller computes" do
      assert_nil(store.fetch("key", skip_nil: true, **FLIGHT) { nil })
      assert_equal 1, store.fetch("key", FLIGHT) { 1 }
    end

    on_both_paths "force computes and stores, whoever computes" do
      while_computing { store.fetch("key", force: true, **FLIGHT) { "forced" } }
      assert_equal "forced", store.read("key")
    end

    on_both_paths "fetch_multi computes what nobody else does, then waits for the rest" do
      store.write("there", 0)
      found = nil
      while_computing("b", "b of another") do
        waiter = Thread.new { store.fetch_multi("there", "a", "b", "a", wait: 60, **FLIGHT) { |name| "#{name}!" } }
        sleep 0.001 until store.read("a")
        found = waiter
      end
      assert_equal({ "there" => 0, "a" => "a!", "b" => "b of another" }, found.value)
      assert_equal(found.value, store.read_multi("there", "a", "b"))
    end

    on_both_paths "what fetch_multi deletes while it computes stays deleted" do
      assert_equal({ "a" => 1 }, store.fetch_multi("a", FLIGHT) { store.delete("a") ? flunk : 1 })
      assert_nil store.read("a")
      assert_equal({ "a" => nil }, store.fetch_multi("a", skip_nil: true, **FLIGHT) { nil })
      refute store.exist?("a")
    end

    on_both_paths "a read with the option takes the lease for the write that follows" do
      assert_nil store.read("key", FLIGHT)
      waiter = Thread.new { store.read("key", wait: 60, **FLIGHT) }
      assert store.write("key", "fragment", FLIGHT)
      assert_equal "fragment", waiter.value
    end

    on_both_paths "a write without the option stores in any case" do
      assert_nil store.read("key", FLIGHT)
      store.clear
      assert store.write("key", "written")
      assert_equal "written", store.read("key")
      assert_equal("computed", store.fetch("other", FLIGHT) { store.write("other", "written") && "computed" })
      assert_equal "written", store.read("other")
      Larder::Store::Flights.end_work
    end

    # Rails begins and ends a request, a job or another piece of work so.
    def piece_of_work
      Larder::Store::Flights.begin_work
      Larder::Store::Flights.end_work
    end

    # @return [Fiber] that computes a value, and goes on when it is resumed
    def computing(value, cache: store, **options)
      Fiber.new { cache.fetch("key", **FLIGHT, **options) { Fiber.yield || value } }.tap(&:resume)
    end

    on_both_paths "a delete wins over a value that is computed while a request of another fiber ends" do
      { delete: {}, delete_tagged: { tags: "key" } }.each do |change, options|
        fiber = computing("old", **options)
        Fiber.new { piece_of_work }.resume
        store.public_send(change, "key")
        assert_equal "old", fiber.resume
        assert_nil store.read("key"), change
      end
    end

    on_both_paths "a value is stored that is computed while requests of other fibers end" do
      fiber = computing("computed")
      3.times { Fiber.new { piece_of_work }.resume }
      fiber.resume
      assert_equal "computed", store.read("key")
    end

    on_both_paths "a piece of work within a block leaves its lease" do
      assert_equal("computed", store.fetch("key", FLIGHT) { piece_of_work.then { "computed" } })
      assert_equal "computed", store.read("key")
      store.delete("key")
      assert_equal("old", store.fetch("key", FLIGHT) { piece_of_work.then { store.delete("key") }.then { "old" } })
      assert_nil store.read("key")
    end

    on_both_paths "a fiber that a piece of work leaves in a block frees the key, and stores nothing if it goes on" do
      Larder::Store::Flights.begin_work
      fiber = computing("late")
      Larder::Store::Flights.end_work
      assert_equal("second", store.fetch("key", FLIGHT) { "second" })
      assert_equal "late", fiber.resume
      assert_equal "second", store.read("key")
    end

    on_both_paths "a write in another fiber while the block runs wins over its value" do
      cache = new_store(single_flight: true)
      fiber = computing("old", cache: cache)
      cache.write("key", "new")
      fiber.resume
      assert_equal "new", cache.read("key")
    end

    on_both_paths "a delete also wins over the value of a block that has written its key before" do
      assert_equal("old", store.fetch("key", FLIGHT) do
        assert store.write("key", "older", FLIGHT)
        new_store.delete("key")
        "old"
      end)
      assert_nil store.read("key")
    end

    on_both_paths "a name that the block changes is the one that is written" do
      assert_equal(1, store.fetch(+"key", FLIGHT) { |name| name << "s" && 1 })
      assert_equal({ "keys" => 1 }, store.read_multi("key", "keys"))
    end

    on_both_paths "a read without the option, also of a store that has it, takes none" do
      cache = new_store(single_flight: true)
      assert_nil cache.read("key")
      assert_equal "own", new_store.fetch("key", wait: 0, **FLIGHT) { "own" }
    end

    on_both_paths "the write after a read that would wait no longer stores nothing" do
      while_computing do
        assert_nil store.read("key", wait: 0, **FLIGHT)
        refute store.write("key", "own", FLIGHT)
      end
      assert_equal "computed", store.read("key")
    end

    test "a forked child neither ends nor uses the lease of its parent" do
      store.fetch("key", FLIGHT) do
        assert in_child { Larder::Store::Flights.held.empty? && store.fetch("key", wait: 0, **FLIGHT) { 2 } == 2 }
        1
      end
      assert_equal 1, store.read("key")
    end

    on_both_paths "a forked child that returns from the block stores nothing under the lease of its parent" do
      parent = Process.pid
      value = store.fetch("key", FLIGHT) do
        child = fork
        next "the child's" unless child

        assert wait_for(child).success?
        assert_nil store.read("key")
        "the parent's"
      end
      if Process.pid != parent
        exit!(value == "the child's" && store.fetch("other", FLIGHT) { 1 } == 1 && store.read("other") == 1)
      end
      assert_equal ["the parent's", "the parent's", 1], [value, store.read("key"), store.read("other")]
    end

    { "resized" => ->(cache) { cache.cache.resize(2 << 20) },
      "resized with its entries" => ->(cache) { cache.cache.resize(2 << 20, keep: true) },
      "removed" => lambda { |cache|
        File.unlink(cache.cache.path)
        sleep(0.001) until cache.write("note", "of the new file") && File.exist?(cache.cache.path)
      } }.each do |name, replace|
      on_both_paths "a delete wins over a value that is computed while the file is #{name}" do
        cache = new_store
        while_computing("key", "old", cache: cache) do
          cache.delete("key")
          replace.call(cache)
          assert_equal("new", while_computing("key", "new", cache: cache) { assert_nil cache.read("key") })
        end
        assert_equal "new", cache.read("key")
      end

      on_both_paths "the next caller's value is stored where the file was #{name}, also after the first one's store" do
        cache = new_store
        gate = Gate.new
        second = nil
        while_computing("key", "old", cache: cache) do
          cache.delete("key")
          replace.call(cache)
          second = Thread.new { cache.fetch("key", FLIGHT) { gate.pass && "new" } }
          gate.await
        end
        assert_nil cache.read("key"), "the value from before the delete is not stored"
        gate.open
        assert_equal ["new", "new"], [second.value, cache.read("key")]
      end
    end

    on_both_paths "a caller that travels in time neither ends a lease nor makes it last longer" do
      [-2.days, -1.minute, 1.minute, 2.days].each do |away|
        while_computing("key#{away}", lease: 30) do
          travel(away) { assert_equal "own", store.fetch("key#{away}", wait: 0.01, **FLIGHT) { "own" } }
        end
        assert_equal "computed", store.read("key#{away}"), away.inspect
      end
    end

    test "a cache that cannot serve computes as without the option" do
      cache = new_store
      cache.cache.close
      assert_equal("own", cache.fetch("key", FLIGHT) { "own" })
    end

    on_both_paths "a block that takes longer than its lease is stored in the end" do
      runs = Queue.new
      threads = Array.new(3) do
        Thread.new do
          until store.read("slow") || runs.size > 30
            store.fetch("slow", **FLIGHT, lease: 0.05) { (runs << 1) && sleep(0.12) && "computed" }
          end
        end
      end
      threads.each(&:join)
      assert_operator runs.size, :<=, 12
      store.delete("slow")
    end

    on_both_paths "stats count who waited, who computed alone, and what was computed again" do
      counts = %i[leases waits lone_computes refreshes stale_hits]
      before = store.stats.values_at(*counts)
      while_computing { assert_equal("own", store.fetch("key", **FLIGHT, wait: 0.3) { "own" }) }
      store.fetch("old", expires_in: 5, stale_while_revalidate: 60) { 1 }
      travel 6.seconds do
        store.fetch("old", expires_in: 5, stale_while_revalidate: 60) { 2 }
        assert Larder::Store::Refreshes.await(LONGEST)
      end
      assert_equal [2, 1, 1, 1, 1], store.stats.values_at(*counts).zip(before).map { |after, earlier| after - earlier }
    end

    test "the events are those of a call without the option" do
      names = ->(&call) { events_of(&call).map(&:name) }
      plain = names.call { store.fetch("plain") { 1 } }
      assert_equal plain, names.call { store.fetch("key", FLIGHT) { 1 } }
      assert_equal names.call { store.fetch("plain") { flunk } }, names.call { store.fetch("key", FLIGHT) { flunk } }
    end

    test "wrong options name the option and what it takes" do
      { single_flight: "yes", wait: -1, lease: Float::NAN }.each do |name, given|
        error = assert_raises(ArgumentError) { store.fetch("key", **FLIGHT, name => given) { 1 } }
        assert_match(/:#{name} of LarderStore is #{Regexp.escape(given.inspect)}; it takes/, error.message)
        assert_raises(ArgumentError) { new_store(name => given) }
      end
    end
  end
end
