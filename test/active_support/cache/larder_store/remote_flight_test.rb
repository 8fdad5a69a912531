# frozen_string_literal: true

# Single flight among machines whose owner is killed or interrupted, over a real Redis.

require "support/remote_case"
require "redis"

module LarderStore
  class RemoteFlightTest < RemoteCase
    # Seconds that a call takes at most which does not wait for a lease to end.
    SOON = 60
    OPTIONS = { single_flight: true, wait: 300, lease: 300 }.freeze
    # Beats with a second between each two, as the caller sees them, which are more than a dead owner is waited for.
    BEATS = 4
    # A value that a file of one mebibyte does not take.
    LONG = "x" * (1 << 20)
    Heartbeat = Larder::Remote::Heartbeat

    # Callers find by this clock that an owner is dead. Tests put it forward instead of waiting. Beats come ten
    # times as often.
    module Clock
      singleton_class.attr_accessor :ahead, :looked

      # Calls `looked` with the beat that a caller has found.
      def silent?(lease)
        beat = nil
        super { beat = yield }.tap { Clock.looked&.call(beat) }
      end

      private

      def monotonic_now
        super + Clock.ahead
      end

      def sleep(seconds)
        super(seconds / 10.0)
      end
    end
    Clock.ahead = 0
    Heartbeat.prepend(Clock)

    setup do
      @server = start_once("redis")
      Redis.new(url: @server.endpoint["url"]).flushall
      @one, @two = machine("one"), machine("two")
    end

    teardown do
      Clock.ahead = 0
      Clock.looked = nil
    end

    test "a process that is killed is followed by another of its machine at once" do
      kill_in_block
      assert_equal "next", within(SOON) { @one.fetch("k", OPTIONS) { "next" } }
      assert_equal "next", @two.fetch("k", OPTIONS) { flunk }
    end

    test "one of another machine has what that one makes" do
      kill_in_block
      waiting = Thread.new { @two.fetch("k", OPTIONS) { flunk } }
      sleep(0.1)
      @one.fetch("k", OPTIONS) { "next" }
      assert_equal("next", within(SOON) { waiting.value })
    end

    test "one that is killed is followed by another machine, long before its lease ends" do
      kill_in_block
      silence_passes
      assert_equal "next", within(SOON) { @two.fetch("k", OPTIONS) { "next" } }
      assert_equal "next", @one.fetch("k", OPTIONS) { flunk }
    end

    test "so it is for callers who each wait for less time than it takes to find out" do
      kill_in_block
      silence_passes
      stored = lambda do
        @two.fetch("k", { **OPTIONS, wait: 0.1 }) { "next" }
        @two.read("k")
      end
      assert(eventually(within: SOON) { stored.call })
    end

    test "of several machines that find a killed owner at once, one computes" do
      kill_in_block
      runs = Queue.new
      machines = [@two, *%w[three four].map { |name| machine(name) }]
      silence_passes(machines.size)
      values = machines.map do |store|
        Thread.new { store.fetch("k", OPTIONS) { (runs << true) && sleep(0.3) && "next" } }
      end
      assert_equal ["next"] * 3, within(SOON) { values.map(&:value) }
      assert_equal 1, runs.size
    end

    test "one that is stopped is followed, too, and does not replace the value when it goes on" do
      reader, writer = IO.pipe
      pid = owner { writer.write("in block") && sleep(0.1) && "old" }
      reader.read(8)
      Process.kill(:STOP, pid)
      silence_passes
      assert_equal "next", within(SOON) { @two.fetch("k", OPTIONS) { "next" } }
      Process.kill(:CONT, pid)
      wait_for(pid)
      @two.cache.clear
      assert_equal "next", @two.read("k")
    end

    test "one that works for longer than a dead one is waited for" do
      redis = Redis.new(url: @server.endpoint["url"])
      begun = Queue.new
      waiting = Thread.new { begun.pop && @two.fetch("k", OPTIONS) { flunk } }
      seen = passing_between_beats
      made = @one.fetch("k", OPTIONS) do
        begun << true
        beats = redis.keys("k/larder/lease/*") until beats&.any?
        assert(eventually { redis.ttl(beats.first) > 0 })
        within(SOON) { BEATS.times { seen.pop } }
        "made"
      end
      assert_equal %w[made made], [made, waiting.value]
      assert(eventually { Thread.list.none? { |thread| thread.name == "larder-heartbeat" } })
    end

    test "a child process that computes shows life itself" do
      assert_equal("outer", @one.fetch("a", OPTIONS) do
        reader, writer = IO.pipe
        go_on, enough = IO.pipe
        pid = owner { writer.write("in block") && go_on.wait_readable(SOON) && "made" }
        reader.read(8)
        seen = passing_between_beats
        Thread.new { BEATS.times { seen.pop } && enough.write("!") }
        assert_equal "made", @two.fetch("k", OPTIONS) { flunk }
        wait_for(pid)
        "outer"
      end)
    end

    test "a forked child that leaves the block ends no lease of its parent" do
      calls = [->(&block) { @one.fetch("k", OPTIONS, &block) },
               ->(&block) { @one.fetch_multi("k", OPTIONS, &block)["k"] }]
      calls.product([-> { "the child's" }, -> { exit }]).each do |call, leave|
        value = in_parent { call.call { (child = fork) ? wait_for(child) && "the parent's" : leave.call } }
        assert_equal ["the parent's"] * 2, [value, @two.read("k")]
        @one.delete("k")
      end
    end

    test "a lease that a delete has ended is not brought back by its owner's signs of life" do
      redis = Redis.new(url: @server.endpoint["url"])
      made = @one.fetch("k", OPTIONS) do
        assert(eventually { redis.keys("k/larder/lease/*").any? })
        @two.delete("k")
        beat = redis.keys("k/larder/lease/*").first
        BEATS.times do
          before = redis.get(beat)
          assert(eventually { redis.get(beat) != before })
        end
        assert_empty redis.keys("k/larder/lease")
        "old"
      end
      assert_equal ["old", nil, nil], [made, @one.read("k"), @two.read("k")]
    end

    # A listener does this with the message about a change.
    MESSAGES = { "a delete" => ->(cache) { cache.delete_multi(["k"]) }, "clear" => :clear.to_proc }.freeze

    MESSAGES.each do |name, message|
      test "of callers on all machines who wait while #{name} ends their leases, one computes, and stores its value" do
        assert_one_run([@two, machine("three")], message)
      end
    end

    test "so it is for two processes of one machine" do
      assert_one_run([@two, machine("two"), machine("three")], MESSAGES["clear"])
    end

    test "a caller waits for its machine and for others together, as long as it said" do
      begun, go_on = Queue.new, Queue.new
      far = Thread.new { @two.fetch("k", OPTIONS) { (begun << true) && go_on.pop } }
      begun.pop
      first = Thread.new { @one.fetch("k", { **OPTIONS, wait: 3.6 }) { "first" } }
      sleep(0.3)
      from = now
      assert_equal("second", @one.fetch("k", { **OPTIONS, wait: 4 }) { "second" })
      assert_operator now - from, :<, 7
      assert_equal "first", first.value
      go_on << "made"
      assert_equal "made", far.value
    end

    test "fetch_multi waits as long for all its keys together" do
      keys = %w[a b c d]
      begun, go_on = Queue.new, Queue.new
      threads = keys.map { |key| Thread.new { @one.fetch(key, OPTIONS) { (begun << true) && go_on.pop } } }
      keys.each { begun.pop }
      from = now
      assert_equal(%w[mine] * 4, @one.fetch_multi(*keys, { **OPTIONS, wait: 2 }) { "mine" }.values)
      assert_operator now - from, :<, 6
      keys.each { go_on << "made" }
      assert_equal ["made"], threads.map(&:value).uniq
    end

    test "with wait: 0 no call waits" do
      begun, go_on = Queue.new, Queue.new
      far = Thread.new { @two.fetch("k", OPTIONS) { (begun << true) && go_on.pop } }
      begun.pop
      assert_equal("mine", @one.fetch("k", { **OPTIONS, wait: 0 }) { "mine" })
      assert_equal({ "k" => "mine" }, @one.fetch_multi("k", { **OPTIONS, wait: 0 }) { "mine" })
      go_on << "made"
      assert_equal "made", far.value
    end

    test "callers on two machines that hold a lease each do not wait for each other" do
      held = Queue.new
      calls = [@one, @two].zip([%w[na nb], %w[nb na]]).map do |store, (outer, inner)|
        Thread.new do
          store.fetch(outer, OPTIONS) do
            held << outer
            sleep(0.001) until held.size == 2
            store.fetch(inner, OPTIONS) { inner }
          end
        end
      end
      assert_empty(within(SOON) { calls.map(&:value) } - %w[na nb])
    end

    test "an entry of the remote store lives as long as it says, to the millisecond" do
      @one.write("k", 1, expires_in: 300.3)
      assert_includes 200_000..300_300, Redis.new(url: @server.endpoint["url"]).pttl("k")
      @one.write("k", 1, expires_in: 0.3)
      assert(eventually { @one.write("k", 2, unless_exist: true) })
    end

    test "one that is interrupted where its lease was just taken leaves none" do
      @one.remote.store.singleton_class.prepend(interruption(:write_entry))
      @one.remote.scripted_leases.singleton_class.prepend(interruption(:take))
      assert_raises(Timeout::Error) { @one.fetch("k", OPTIONS) { flunk } }
      assert_empty Redis.new(url: @server.endpoint["url"]).keys("*/larder/lease")
      assert_equal "next", within(SOON) { @two.fetch("k", OPTIONS) { "next" } }
    end

    test "one that is interrupted while it waits leaves the lease to its owner" do
      begun, go_on = Queue.new, Queue.new
      owner = Thread.new { @two.fetch("k", OPTIONS) { begun.push(true) && go_on.pop } }
      begun.pop
      assert_raises(Timeout::Error) { Timeout.timeout(0.1) { @one.fetch("k", OPTIONS) { flunk } } }
      waiting = Thread.new { @one.fetch("k", OPTIONS) { flunk } }
      sleep(0.1)
      go_on.push("made")
      assert_equal %w[made made], [owner.value, waiting.value]
    end

    test "what another machine changes while the value is computed wins, without a backplane" do
      changes.each do |name, (change, left)|
        assert_equal "old", @one.fetch("k", OPTIONS) { change.call && "old" }
        assert_equal [left, left], [@two.read("k"), @one.read("k")], name
        @one.clear
      end
    end

    # Options of the first value, whether it expires, and versions of the first and of the next value.
    OLD = [[{ expires_in: 10, stale_if_error: 600 }, true], [{ expires_in: 10, race_condition_ttl: 600 }, true],
           [{ expires_in: 600 }, false, 1, 2], [{}, false, 1, 2]].freeze

    test "so it is while an old value, or one of another version, is computed again" do
      OLD.product(changes.to_a) do |(options, expires, version, newer), (name, (change, left))|
        @one.fetch("k", { **OPTIONS, **options, version: version }) { "first" }
        travel(expires ? 11.seconds : 0) do
          call = { **OPTIONS, **options, version: newer }
          assert_equal "old", @one.fetch("k", call) { change.call && "old" }
          assert_equal [left, left], [@two.read("k"), ActiveSupport::Cache.lookup_store(remote).read("k")],
                       [name, options]
          assert_equal left || "next", @one.fetch("k", call) { "next" } unless newer
        end
        @one.clear
      end
    end

    test "what it changes just before or after the value reaches the remote store wins, too" do
      %i[before after].product(changes.to_a).each do |moment, (name, (change, left))|
        once(moment) { change.call }
        @one.fetch("k", OPTIONS) { "old" }
        assert_equal [left, left], [@two.read("k"), ActiveSupport::Cache.lookup_store(remote).read("k")],
                     "#{name} #{moment}"
        @one.clear
      end
    end

    test "so it is for raw values, also where the owner's machine changes the key" do
      [@two, @one, machine("one")].product(raw_changes.to_a).each do |store, (name, (change, left))|
        assert_equal "old", @one.fetch("k", raw: true, **OPTIONS) { change.call(store) && "old" }
        assert_equal [left] * 2, [@two, @one].map { |reader| reader.read("k", raw: true) }, name
        @one.clear
      end
    end

    test "a raw value that takes longer than its lease is not stored" do
      key = "slow #{object_id}" # one that has taken longer before gets a longer lease
      assert_equal "late", @one.fetch(key, raw: true, **OPTIONS, lease: 0.05) { sleep(0.1) && "late" }
      assert_nil @two.read(key, raw: true)
    end

    test "a delete says whether there was an entry, and not whether its value was computed" do
      @one.fetch("k", OPTIONS) { assert_equal([false, 0], [@two.delete("k"), @two.delete_multi(%w[k l])]) && 1 }
      @one.write_multi({ "k" => 1, "l" => 1 })
      assert_equal([2, true], [@two.delete_multi(%w[k l]), @one.write("k", 1) && @two.delete("k")])
    end

    test "a value that is too long for the file is computed once, and all answer it" do
      stores = %w[small little].map { |name| machine(name, size: 1 << 20, raise_errors: true) }
      runs = Queue.new
      calls = (stores * 2).map do |store|
        Thread.new { store.fetch("k", OPTIONS) { (runs << true) && sleep(0.1) && LONG } }
      end
      assert(calls.all? { |call| call.value == LONG })
      assert_equal 1, runs.size
    end

    test "so is one of fetch_multi, and the others have copies" do
      store = machine("small", size: 1 << 20, raise_errors: true)
      2.times do
        values = store.fetch_multi("a", "long", "b", OPTIONS) { |key| key == "long" ? LONG : key }
        assert_equal [["a", "b"], true], [values.values_at("a", "b"), values["long"] == LONG]
        assert_equal %w[a b], store.cache.each_key.sort
      end
      assert_operator @two.read("long").to_s.size, :>, 1 << 19
    end

    test "other machines drop their copies of the value that it replaces" do
      one, two = { "small" => 1 << 20, "large" => SIZE }.map do |name, size|
        machine(name, size: size, backplane: @server.endpoint["url"], local_expires_in: 600)
      end
      assert(eventually { [one, two].each { |store| store.read("none") }.all? { |store| store.level.trusted? } })
      two.write("k", "old", version: 1)
      assert_equal "old", two.read("k")
      # The message about "old" ends the lease of a computation that has begun before it came.
      assert(eventually { one.fetch("k", version: 2, **OPTIONS) { LONG } && two.read("k") == LONG })
    end

    test "bytes that nobody can read are replaced" do
      Redis.new(url: @server.endpoint["url"]).set("k", "garbage")
      assert_equal %w[made made], Array.new(2) { @one.fetch("k", OPTIONS) { "made" } }
      @two.cache.clear
      assert_equal "made", @two.fetch("k", OPTIONS) { flunk }
    end

    test "a search for keys that has found a lease, and not the value that is stored under it, leaves neither" do
      one, two = %w[a b].map { |name| machine(name, single_flight: true) }
      begun, go_on = Queue.new, Queue.new
      two.remote.store.singleton_class.prepend(slow_search(begun, go_on))
      search = nil
      once(:before, one) { (search = Thread.new { two.delete_matched("k*") }) && begun.pop }
      one.fetch("k") { "old" }
      go_on.push(true)
      search.join
      assert_empty Redis.new(url: @server.endpoint["url"]).keys("k*")
    end

    test "a value is deleted later if the remote store fails before it is known whether it may stay" do
      once(:after) { @server.stop }
      assert_equal "old", @one.fetch("k", OPTIONS) { "old" }
      assert @one.stats[:remote][:waiting]
    ensure
      @server.start
    end

    test "so it is if a change of another caller has failed by then" do
      once(:before) { @two.delete("k") }
      once(:after) do
        @one.remote.pause
        @one.remote.outbox.note(:delete, ["other"])
      end
      assert_equal "old", @one.fetch("k", OPTIONS) { "old" }
      assert(eventually { caught_up?(@one) })
      assert_nil @two.read("k")
    end

    test "a value that takes longer than its lease is stored the second time, or later where the machine is slower" do
      stored = (1..5).any? do |time|
        @one.fetch("k", { **OPTIONS, lease: 0.1 }) { sleep(0.2) && "late" }
        time > 1 && @two.read("k") == "late"
      end
      assert stored, "it was not stored in five times"
      assert_empty Redis.new(url: @server.endpoint["url"]).keys("*/larder/lease")
    end

    private

    # @return [Hash{String=>Array}] what the other machine does, and what is there then
    def changes
      { "delete" => [-> { @two.delete("k") || true }, nil], "delete_multi" => [-> { @two.delete_multi(["k"]) }, nil],
        "clear" => [-> { @two.clear }, nil], "delete_matched" => [-> { flying_two.delete_matched("[k]") || true }, nil],
        "write" => [-> { @two.write("k", "new") }, "new"] }
    end

    # @return [Hash{String=>Array}] what a machine does, and the raw value that is there then
    def raw_changes
      { "delete" => [->(store) { store.delete("k") || true }, nil],
        "write" => [->(store) { store.write("k", "new", raw: true) }, "new"],
        "increment" => [->(store) { store.increment("k") }, "1"] }
    end

    # Deletes leases by searches, too.
    def flying_two
      @flying_two ||= machine("two", single_flight: true)
    end

    # Finds keys the first time, and deletes them later.
    def slow_search(begun, go_on)
      redis = Redis.new(url: @server.endpoint["url"])
      Module.new do
        define_method(:delete_matched) do |pattern, *rest|
          return super(pattern, *rest) if begun.closed?

          found = redis.keys(pattern)
          begun.push(true).close
          go_on.pop
          redis.del(found)
        end
      end
    end

    # Runs the block once before or after the value is stored.
    def once(moment, store = @one, &block)
      blocks = { moment => block }
      around = lambda do |&write|
        blocks.delete(:before)&.call
        write.call.tap { blocks.delete(:after)&.call }
      end
      store.remote.store.singleton_class.prepend(writes_around("k", around))
      store.remote.scripted_leases.singleton_class.prepend(Module.new do
        define_method(:write) { |*arguments| around.call { super(*arguments) } }
      end)
    end

    def writes_around(name, around)
      Module.new do
        define_method(:write_entry) do |key, *arguments, **options|
          key == name ? around.call { super(key, *arguments, **options) } : super(key, *arguments, **options)
        end
        private :write_entry
      end
    end

    def remote
      [:redis_cache_store, { url: @server.endpoint["url"] }]
    end

    # A process of machine one dies while it computes.
    def kill_in_block
      reader, writer = IO.pipe
      pid = owner { writer.write("in block") && sleep }
      reader.read(8)
      Process.kill(:KILL, pid)
      Process.wait(pid)
    end

    # A child that is forked in the block ends where that returns.
    def in_parent
      parent = Process.pid
      yield
    ensure
      exit!(0) if Process.pid != parent
    end

    # While an owner computes, callers of other machines wait, and hear that the key was deleted.
    def assert_one_run(stores, message)
      begun, go_on, looks, runs = Array.new(4) { Queue.new }
      Clock.looked = ->(_) { looks << true }
      owner = Thread.new { @one.fetch("k", OPTIONS) { (begun << true) && go_on.pop } }
      begun.pop
      calls = stores.map do |store|
        Thread.new { store.fetch("k", OPTIONS) { (runs << true) && sleep(0.1) && "next" } }
      end
      stores.map { |store| store.cache.path }.uniq.each { looks.pop }
      stores.each { |store| message.call(store.cache) }
      machine("deleting").delete("k")
      assert_equal ["next"] * stores.size, within(SOON) { calls.map(&:value) }
      assert_equal ["next", 1], [stores.first.read("k"), runs.size]
      go_on << "old"
      assert_equal ["old", "next"], [owner.value, @one.read("k")]
    end

    # When this number of callers has looked at the owner, the time has passed after which it counts as dead.
    def silence_passes(callers = 1)
      looks = 0
      Clock.looked = lambda do |_|
        looks += 1
        Clock.ahead += Heartbeat::SILENCE if looks == callers
      end
    end

    # When a caller has found another beat, a second has passed.
    #
    # @return [Queue] the beats
    def passing_between_beats
      last = nil
      Queue.new.tap do |seen|
        Clock.looked = lambda do |beat|
          next if beat.nil? || beat == last

          Clock.ahead += 1
          seen << (last = beat)
        end
      end
    end

    # @return [Integer] the id of a process of machine one that computes
    def owner(&block)
      fork do
        @one.fetch("k", OPTIONS, &block)
      ensure
        exit!
      end
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def within(seconds, &block)
      Timeout.timeout(seconds, &block)
    end

    # A write of the remote store that is interrupted when it has been applied.
    def interruption(method)
      Module.new do
        define_method(method) do |*arguments, **options|
          super(*arguments, **options)
          raise Timeout::Error, "interrupted"
        end
      end
    end
  end
end
