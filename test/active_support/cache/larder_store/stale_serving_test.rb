# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # stale_while_revalidate, stale_if_error, early_refresh, jitter. Each test runs in C and on ActiveSupport's path.
  class StaleServingTest < StoreCase
    Refreshes = Larder::Store::Refreshes
    WHILE = { expires_in: 10, stale_while_revalidate: 60 }.freeze
    IF_ERROR = { expires_in: 10, stale_if_error: 60 }.freeze
    # For the coder.
    Point = Struct.new(:x)

    teardown do
      assert Refreshes.await(LONGEST)
      assert_empty Larder::Store::Flights.held
    end

    def refreshed(key = "key")
      assert Refreshes.await(LONGEST)
      store.read(key)
    end

    on_both_paths "what has expired is served, and computed again once" do
      [1, "text", { "a" => [1] }, Point.new(2), "long " * 40_000, nil].each do |old|
        store.fetch("key", **WHILE, force: true) { old }
        travel 11.seconds do
          runs, gate = Queue.new, Queue.new
          values = Array.new(10) { Thread.new { store.fetch("key", **WHILE) { runs << gate.pop && "new" } } }
          assert_equal [old], values.map(&:value).uniq
          gate << true
          assert_equal "new", refreshed
          assert_equal 1, runs.size
        end
      end
    end

    on_both_paths "so is a long value, also with a subscriber" do
      ["long " * 60_000, ["long " * 60_000]].each do |old|
        store.fetch("key", **WHILE, force: true) { old }
        travel 11.seconds do
          value = nil
          events = events_of { value = store.fetch("key", **WHILE) { "new" } }
          assert_equal [old, true], [value, events.first.payload[:hit]]
          assert_equal "new", refreshed
        end
      end
    end

    # Neither a plain value nor one of Larder's own format.
    class Parcel
      attr_reader :text

      def initialize(text) = @text = text
      def ==(other) = other.is_a?(Parcel) && text == other.text
    end

    on_both_paths "a refresh that ends in an error of any kind is reported, and not repeated at once" do
      [NotImplementedError, Exception, SystemStackError].each do |error|
        store.write("key", "old", **WHILE)
        travel 11.seconds do
          runs = Queue.new
          reports = reports_of do
            5.times do
              assert_equal("old", store.fetch("key", **WHILE) { (runs << 1) && raise(error, "of the block") })
              assert Refreshes.await(LONGEST)
            end
          end
          assert_equal [1, [error]], [runs.size, reports.map { |report| report[:error].class }]
        end
        store.delete("key")
      end
    end

    on_both_paths "what is kept for race_condition_ttl alone is not served" do
      [1, Parcel.new("a")].each do |old|
        store.write("key", old, expires_in: 10, race_condition_ttl: 60)
        travel 11.seconds do
          assert_nil store.read("key", **WHILE)
          assert_equal({}, store.read_multi("key", **WHILE))
          assert_equal({ "key" => 2 }, store.fetch_multi("key", **WHILE) { 2 })
        end
        store.delete("key")
      end
    end

    on_both_paths "so are objects, what is compressed, and what a coder of the application's dumps" do
      marshal = new_store("marshal.larder", coder: Marshal)
      { store => [{}, Parcel.new("a"), /a/], new_store => [{ compress: true }, "a" * 5000], marshal => [{}, "text"] }
        .each do |cache, (more, *values)|
        values.each do |old|
          options = { **WHILE, **IF_ERROR, **more }
          cache.fetch("key", force: true, **options) { old }
          travel 11.seconds
          assert_equal(old, cache.fetch("key", **options) { "new" }, old.class)
          assert Refreshes.await(LONGEST)
          assert_equal "new", cache.read("key")
          cache.write("key", old, **IF_ERROR, **more)
          travel 11.seconds
          reports_of { 2.times { assert_equal old, cache.fetch("key", **IF_ERROR, **more) { raise IOError } } }
          assert_equal old, cache.read("key"), "fresh for a while"
        end
      end
    end

    on_both_paths "key, version and namespace of a refresh are those of the call" do
      Thread.current[:tenant] = "A"
      cache = new_store(namespace: -> { Thread.current[:tenant].to_s })
      name = [+"key", 1]
      cache.fetch(name, **WHILE) { "old" }
      travel 11.seconds do
        gate = Queue.new
        cache.fetch(name, **WHILE) { gate.pop && "new" }
        name << 2
        gate << true
        assert Refreshes.await(LONGEST)
        assert_equal "new", cache.read(["key", 1])
        assert_equal ["A:key/1"], cache.cache.each_key(now: Time.now.to_f).to_a
      end
    ensure
      Thread.current[:tenant] = nil
    end

    test "by the real clock, the time of the call counts, and values are computed again early" do
      store.fetch("key", expires_in: 0.05, stale_while_revalidate: 60) { "old" }
      sleep 0.3
      assert_equal("new", store.fetch("key", expires_in: 60, stale_while_revalidate: 0.2) { "new" })
      runs = 0
      early = -> { store.fetch("early", expires_in: 1, early_refresh: true) { (runs += 1) && sleep(0.4) && runs } }
      early.call
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.9
      early.call while runs == 1 && Process.clock_gettime(Process::CLOCK_MONOTONIC) < deadline
      assert_equal 2, runs
    end

    test "a process that dies while it computes again leaves that to the next caller" do
      store.fetch("key", **WHILE) { "old" }
      travel 11.seconds do
        child = fork do
          store.fetch("key", **WHILE) { sleep }
          Process.kill(:KILL, Process.pid)
        end
        wait_for(child)
        assert_equal("old", store.fetch("key", **WHILE) { "new" })
        assert_equal "new", refreshed
      end
    end

    test "a block that ends its thread ends no other refresh" do
      5.times { |i| store.fetch(i, **WHILE) { "old" } }
      travel 11.seconds do
        4.times { |i| store.fetch(i, **WHILE) { Thread.current.kill } }
        assert_equal("old", store.fetch(4, **WHILE) { "new" })
        assert_equal "new", refreshed(4)
      end
    end

    on_both_paths "what has expired is served for so long only" do
      store.fetch("key", **WHILE) { "old" }
      travel(69.seconds) { assert_equal "old", store.fetch("key", **WHILE) { "old" } }
      assert Refreshes.await(LONGEST)
      store.fetch("other", **WHILE) { "old" }
      travel(71.seconds) { assert_equal "new", store.fetch("other", **WHILE) { "new" } }
    end

    on_both_paths "calls without the option find nothing" do
      store.fetch("key", **WHILE) { "old" }
      travel 11.seconds do
        assert_nil store.read("key")
        refute store.exist?("key")
        assert_equal({}, store.read_multi("key"))
        assert_empty store.cache.each_key(now: Time.now.to_f).to_a
        assert store.write("key", "added", unless_exist: true)
      end
    end

    on_both_paths "a fetch without the option computes" do
      store.fetch("key", **WHILE) { "old" }
      travel(11.seconds) { assert_equal "new", store.fetch("key", expires_in: 10) { "new" } }
    end

    on_both_paths "what was deleted is not served" do
      { "delete" => -> { store.delete("key") }, "delete_matched" => -> { store.delete_matched("k*") },
        "clear" => -> { store.clear } }.each do |name, change|
        store.fetch("key", **WHILE, force: true) { "old" }
        travel 11.seconds do
          change.call
          assert_equal "new", store.fetch("key", **WHILE) { "new" }, name
        end
      end
    end

    on_both_paths "what is deleted while it is computed again stays deleted" do
      store.fetch("key", **WHILE) { "old" }
      travel 11.seconds do
        begun, open = Queue.new, Queue.new
        assert_equal("old", store.fetch("key", **WHILE) { begun << true && open.pop && "new" })
        begun.pop
        store.delete("key")
        open << true
        assert_nil refreshed
      end
    end

    on_both_paths "a value of another version is not served" do
      store.fetch("key", version: 1, **WHILE) { "one" }
      travel(11.seconds) { assert_equal "two", store.fetch("key", version: 2, **WHILE) { "two" } }
    end

    on_both_paths "a block that raises is answered by the old value, reported, and not run again for a while" do
      store.fetch("key", **IF_ERROR) { "old" }
      travel 11.seconds
      reports = reported { assert_equal "old", store.fetch("key", **IF_ERROR) { raise IOError, "down" } }
      assert_equal ["down"], reports.map(&:message)
      assert_equal("old", store.fetch("key", **IF_ERROR) { flunk "the block ran" })
      travel 6.seconds
      assert_equal "new", store.fetch("key", **IF_ERROR) { "new" }
    end

    # A subscriber of the error reporter that fails.
    class Failing
      def report(...) = raise(IOError, "the reporter is down")
    end

    on_both_paths "an error reporter that raises does not take the place of the old value" do
      failing = Failing.new
      ActiveSupport.error_reporter.subscribe(failing)
      { **WHILE, **IF_ERROR }.then { |options| %w[a b].each { |key| store.fetch(key, **options) { "old" } } }
      travel 11.seconds do
        _, said = capture_io do
          assert_equal("old", store.fetch("a", **IF_ERROR) { raise "block" })
          assert_equal("old", store.fetch("b", **WHILE) { raise "block" })
          assert Refreshes.await(LONGEST)
        end
        assert_equal 2, said.scan("Error subscriber raised an error: the reporter is down (IOError)").size
        assert_match("the reporter is down", log_of { store.fetch("a", force: true, **IF_ERROR) { raise "block" } })
      end
    ensure
      ActiveSupport.error_reporter.unsubscribe(failing)
    end

    on_both_paths "a block that raises raises if there is no old value, or one that is too old" do
      assert_raises(IOError) { store.fetch("key", **IF_ERROR) { raise IOError } }
      store.fetch("key", **IF_ERROR) { "old" }
      travel(71.seconds) { assert_raises(IOError) { store.fetch("key", **IF_ERROR) { raise IOError } } }
      store.fetch("while", **WHILE) { "old" }
      travel(71.seconds) { assert_raises(IOError) { store.fetch("while", **WHILE) { raise IOError } } }
    end

    on_both_paths "force runs the block, and the old value answers its error; skip_nil keeps the old value" do
      options = { **WHILE, **IF_ERROR }
      store.fetch("key", **options) { "old" }
      reports_of { assert_equal "old", store.fetch("key", force: true, **options) { raise IOError } }
      assert_equal "new", store.fetch("key", force: true, **options) { "new" }
      travel 71.seconds
      assert_nil(store.fetch("key", skip_nil: true, **IF_ERROR) { nil })
      assert_nil store.read("key")
      travel 1.day
      store.fetch("other", **IF_ERROR) { "old" }
      travel 11.seconds
      assert_nil(store.fetch("other", skip_nil: true, **IF_ERROR) { nil })
      reports_of { assert_equal "old", store.fetch("other", **IF_ERROR) { raise IOError } }
    end

    on_both_paths "a timeout of the block's own is a failure, one around the call is not" do
      store.fetch("key", **IF_ERROR) { "old" }
      travel 11.seconds
      assert_raises(Timeout::Error) { Timeout.timeout(0.05) { store.fetch("key", **IF_ERROR) { sleep } } }
      reports_of { assert_equal("old", store.fetch("key", **IF_ERROR) { Timeout.timeout(0.05) { sleep } }) }
    end

    on_both_paths "a timeout while it waits for another is raised" do
      options = { **IF_ERROR, single_flight: true }
      store.fetch("key", options) { "old" }
      travel 11.seconds do
        begun, open = Queue.new, Queue.new
        owner = Thread.new { store.fetch("key", options) { begun << true && open.pop } }
        begun.pop
        assert_raises(Timeout::Error) { Timeout.timeout(0.05) { store.fetch("key", options) { flunk } } }
        open << "new"
        assert_equal "new", owner.value
      end
    end

    on_both_paths "what raises outside of the block is raised" do
      store.fetch("key", **IF_ERROR) { "old" }
      travel 11.seconds do
        assert_raises(TypeError) { store.fetch("key", **IF_ERROR) { -> {} } } # no serializer takes it
      end
    end

    on_both_paths "a block that raises while it computes again is reported, and not run again for a while" do
      store.fetch("key", **WHILE) { "old" }
      travel 11.seconds do
        reports = reported do
          assert_equal "old", store.fetch("key", **WHILE) { raise IOError, "down" }
          assert Refreshes.await(LONGEST)
        end
        assert_equal ["down"], reports.map(&:message)
        assert_equal("old", store.fetch("key", **WHILE) { flunk "the block ran" })
      end
    end

    on_both_paths "with single_flight too, one computes, and an error frees the others with the old value" do
      options = { **IF_ERROR, single_flight: true }
      store.fetch("key", options) { "old" }
      travel 11.seconds do
        runs = Queue.new
        reports_of do
          values = Array.new(10) do
            Thread.new { store.fetch("key", options) { runs << sleep(0.02) && raise(IOError) } }
          end
          assert_equal ["old"], values.map(&:value).uniq
        end
        assert_equal 1, runs.size
      end
    end

    test "with single_flight too, an error in one process is the only one of all" do
      options = { **IF_ERROR, single_flight: true, wait: 30 }
      store.fetch("key", options) { "old" }
      travel 11.seconds do
        children = Array.new(4) do
          fork do
            values = Array.new(5) do
              Thread.new { store.fetch("key", options) { store.increment("runs") && sleep(0.1) && raise(IOError) } }
            end
            exit!(values.map(&:value).uniq == ["old"])
          end
        end
        assert(children.all? { |child| wait_for(child).success? })
        assert_equal 1, store.read_counter("runs")
      end
    end

    on_both_paths "with single_flight too, what is stale is served and computed again" do
      options = { **WHILE, single_flight: true }
      store.fetch("key", options) { "old" }
      travel 11.seconds do
        assert_equal("old", store.fetch("key", options) { "new" })
        assert_equal "new", refreshed
      end
    end

    on_both_paths "one of all processes computes again" do
      store.fetch("key", **WHILE) { "old" }
      travel 11.seconds do
        children = Array.new(4) do
          fork do
            values = Array.new(5) { store.fetch("key", **WHILE) { store.increment("runs") && sleep(0.05) && "new" } }
            exit!((values - %w[old new]).empty? && Refreshes.await(LONGEST))
          end
        end
        assert(children.all? { |child| wait_for(child).success? })
        assert_equal 1, store.read_counter("runs")
        assert_equal "new", store.read("key")
      end
    end

    on_both_paths "a read with the option gets what is stale, but for one, who is to write" do
      store.write("key", "old", **WHILE)
      travel 11.seconds do
        assert_nil store.read("key", **WHILE)
        assert_equal("old", Thread.new { store.read("key", **WHILE) }.value)
        assert store.write("key", "new", **WHILE)
        assert_equal "new", store.read("key", **WHILE)
      end
    end

    on_both_paths "values of write_multi and fetch_multi are kept" do
      store.write_multi({ "a" => 1 }, WHILE)
      store.fetch_multi("b", WHILE) { 2 }
      travel(11.seconds) { assert_equal([1, 2], %w[a b].map { |key| store.fetch(key, **WHILE) { 3 } }) }
    end

    on_both_paths "fetch_multi serves what has expired, and has it computed again once" do
      [1, "text", { "a" => [1] }, Point.new(2), "long " * 40_000, nil].each do |old|
        store.write_multi({ "a" => old, "b" => old }, WHILE)
        store.delete("c")
        travel 11.seconds do
          store.write("b", "fresh", **WHILE)
          gate, runs = Queue.new, Queue.new
          block = lambda do |name|
            runs << name
            gate.pop if name == "a"
            "#{name} new"
          end
          3.times do
            found = store.fetch_multi("a", "b", "c", WHILE, &block)
            assert_equal({ "a" => old, "b" => "fresh", "c" => "c new" }, found)
          end
          gate << true
          assert_equal "a new", refreshed("a")
          assert_equal(%w[a c], Array.new(runs.size) { runs.pop }.sort)
        end
      end
    end

    on_both_paths "fetch_multi serves it for so long only, and nothing of another version" do
      store.write("a", "old", **WHILE)
      travel(71.seconds) { assert_equal({ "a" => "new" }, store.fetch_multi("a", WHILE) { "new" }) }
      store.write("b", "old", version: 1, **WHILE)
      travel 11.seconds do
        assert_equal({ "b" => "new" }, store.fetch_multi("b", version: 2, **WHILE) { "new" })
        store.delete("b")
        assert_equal({ "b" => "newer" }, store.fetch_multi("b", version: 2, **WHILE) { "newer" })
      end
    end

    on_both_paths "fetch_multi answers an error of its block by old values" do
      [IF_ERROR, { **IF_ERROR, single_flight: true }].each do |options|
        store.write_multi({ "a" => 1, "b" => 2 }, options)
        travel 11.seconds
        reports = reported do
          found = store.fetch_multi("a", "b", options) { |name| name == "a" ? raise(IOError) : 3 }
          assert_equal({ "a" => 1, "b" => 3 }, found)
        end
        assert_equal [IOError], reports.map(&:class)
        assert_equal({ "a" => 1 }, store.fetch_multi("a", options) { flunk "fresh for a while" })
        assert_raises(IOError) { store.fetch_multi("a", "none", options) { raise IOError } }
        reports_of { assert_equal({ "a" => 1 }, store.fetch_multi("a", force: true, **options) { raise IOError }) }
        assert_equal({ "a" => 4 }, store.fetch_multi("a", force: true, **options) { 4 })
      end
    end

    on_both_paths "by the options of the store, too, and a block of one argument" do
      cache = new_store(**WHILE, **IF_ERROR)
      cache.fetch_multi("a", "b") { "old" }
      travel 11.seconds do
        assert_equal({ "a" => "old", "b" => "old" }, cache.fetch_multi("a", "b", &:upcase))
        assert Refreshes.await(LONGEST)
        assert_equal({ "a" => "A", "b" => "B" }, cache.read_multi("a", "b"))
        assert_equal({}, cache.fetch_multi { flunk })
      end
    end

    on_both_paths "read_multi serves what has expired by an option of the call alone, and leaves it as it is" do
      cache = new_store(**WHILE)
      cache.write_multi({ "a" => 1, "b" => Point.new(2) })
      travel 11.seconds do
        assert_equal({ "a" => 1, "b" => Point.new(2) }, cache.read_multi("a", "b", "c", stale_while_revalidate: 60))
        assert_equal({}, cache.read_multi("a", "b", "c"))
        assert_equal({}, cache.read_multi("a", "b", "c", stale_while_revalidate: nil))
        assert_equal({ "a" => 1 }, cache.read_multi("a", stale_while_revalidate: 60))
      end
    end

    on_both_paths "two names of one key get values of their own from the multi forms" do
      store.write("1", [[]], **WHILE)
      travel 11.seconds do
        values = store.read_multi("1", 1, stale_while_revalidate: 60).values
        assert_equal [[[]], [[]]], values
        refute_same(*values)
      end
      store.write_multi({ "1" => "fresh", "2" => nil }, WHILE)
      found = store.fetch_multi("1", 1, "2", "1", WHILE) { flunk }
      assert_equal({ "1" => "fresh", 1 => "fresh", "2" => nil }, found)
    end

    on_both_paths "the events of multi forms that serve what has expired have it among their hits" do
      store.write_multi({ "a" => 1, "b" => 2 }, WHILE)
      travel 11.seconds do
        stale = []
        events = ActiveSupport::Notifications.subscribed(->(event) { stale << event.payload[:key] }, "stale.larder") do
          events_of do
            store.read_multi("a", "c", stale_while_revalidate: 60)
            store.fetch_multi("b", "c", WHILE) { 3 }
            assert Refreshes.await(LONGEST)
          end
        end
        hits = events.filter_map { |event| event.payload[:hits] }
        assert_equal [[%w[a], %w[b]], %w[a b]], [hits, stale]
      end
    end

    on_both_paths "a value that took long to compute is computed again before it expires" do
      options = { expires_in: 1000, early_refresh: true }
      old = { "text" => "old", "object" => Parcel.new("old"), "kept" => "old" }
      more = { "kept" => { stale_while_revalidate: 60 } }
      old.each do |key, value|
        all = { **options, **more.fetch(key, {}) }
        store.fetch(key, all) { sleep(0.2) && value }
        assert_equal(value, store.fetch(key, all) { flunk "0.2 s is a small part of 1000 s" })
        travel 999.7.seconds, with_usec: true do
          values = Array.new(100) { store.fetch(key, all) { "new" } }
          assert_equal value, values.first
          assert_equal "new", refreshed(key)
        end
      end
    end

    on_both_paths "so is a value of fetch_multi" do
      options = { expires_in: 1000, early_refresh: true }
      store.fetch_multi("key", options) { sleep(0.2) && "old" }
      travel 999.7.seconds, with_usec: true do
        values = Array.new(100) { store.fetch_multi("key", options) { "new" } }
        assert_equal({ "key" => "old" }, values.first)
        assert_equal "new", refreshed
      end
    end

    test "jitter spreads entries with expires_at or an alias, also if the store has expires_in" do
      made = new_store("jitter.larder", jitter: 0.5, expires_in: 1000)
      { expires_at: Time.now + 100, expire_in: 100, expires_in: 100 }.each do |name, value|
        100.times { |i| made.write(i, i, name => value) }
        lives = Array.new(100) { |i| made.cache.ttl(i.to_s) }
        assert_operator lives.min, :<, 90, name
        assert_operator lives.max, :<=, 100, name
        assert_operator lives.max - lives.min, :>, 10, name
      end
    end

    test "jitter spreads when entries expire" do
      200.times { |i| store.write(i, i, expires_in: 100, jitter: 0.5) }
      travel(49.seconds) { assert_equal 200, store.read_multi(*0...200).size }
      travel(75.seconds) { assert_includes 50..150, store.read_multi(*0...200).size }
      travel(101.seconds) { assert_empty store.read_multi(*0...200) }
    end

    test "jitter spreads entries that are stored together by one call" do
      names = (0...100).map(&:to_s)
      calls = { write_multi: ->(cache, how) { cache.write_multi(names.to_h { |name| [name, 1] }, **how) },
                fetch_multi: ->(cache, how) { cache.fetch_multi(*names, **how) { 1 } },
                fetch_multi_tagged: ->(cache, how) { cache.fetch_multi(*names, tags: "t", **how) { 1 } },
                cas_multi: lambda do |cache, how|
                  cache.write_multi(names.to_h { |name| [name, 0] }, expires_in: nil, jitter: nil)
                  assert(cache.cas_multi(*names, **how) { |values| values.transform_values { 1 } })
                end }
      calls.each do |name, call|
        { { jitter: 0.5 } => {}, {} => { jitter: 0.5 } }.each do |of_store, of_call|
          made = new_store("#{name}#{of_call.size}.larder", expires_in: 100, **of_store)
          call.call(made, of_call)
          counts = [49, 75, 101].map { |seconds| travel(seconds.seconds) { made.read_multi(*names).size } }
          assert_equal [100, 0], [counts.first, counts.last], name
          assert_includes 20..80, counts[1], name
        end
      end
    end

    test "beside race_condition_ttl what is kept longest counts" do
      store.fetch("key", race_condition_ttl: 5, **WHILE) { "old" }
      travel(30.seconds) { assert_equal("old", store.fetch("key", race_condition_ttl: 5, **WHILE) { "new" }) }
    end

    test "a stale hit sends the events of a hit" do
      store.fetch("key", **WHILE) { "old" }
      travel 11.seconds do
        events = events_of { store.fetch("key", **WHILE) { sleep(0.2) && "new" } }
        assert_equal ["cache_read.active_support", "cache_fetch_hit.active_support"], events.first(2).map(&:name)
        assert_same true, events.first.payload[:hit]
      end
    end

    test "the options of the store count, and those of a call before them" do
      cache = new_store(**WHILE)
      cache.fetch("key") { "old" }
      travel 11.seconds do
        assert_equal("new", cache.fetch("key", stale_while_revalidate: nil) { "new" })
      end
      travel(22.seconds) { assert_equal("newer", cache.fetch("key") { "newer" }) }
      travel 33.seconds do
        assert_equal("newer", cache.fetch("key") { "newest" })
        assert Refreshes.await(LONGEST)
        assert_equal "newest", cache.read("key")
      end
      travel(44.seconds) { assert_nil cache.read("key"), "a plain read" }
    end

    test "what there is no room for is computed by a later caller" do
      store.fetch("key", **WHILE) { "old" }
      travel 11.seconds do
        gate = Queue.new
        (2 + 100).times { Refreshes.later { |runs| runs && gate.pop } }
        assert_equal("old", store.fetch("key", **WHILE) { "new" })
        (2 + 100).times { gate << true }
        assert Refreshes.await(LONGEST)
        assert_equal "old", store.fetch("key", **WHILE) { "new" }
        assert_equal "new", refreshed
      end
    end

    test "wrong options name the option and what it takes" do
      wrong = { stale_while_revalidate: 0, stale_if_error: "1", early_refresh: 1, jitter: Float::NAN, soft_timeout: 0 }
      wrong.each do |name, given|
        error = assert_raises(ArgumentError) { store.fetch("key", **IF_ERROR, name => given) { 1 } }
        assert_match(/:#{name} of LarderStore is #{Regexp.escape(given.inspect)}; it takes/, error.message)
        assert_raises(ArgumentError) { new_store(name => given) }
      end
    end
  end
end
