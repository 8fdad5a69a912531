# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # `soft_timeout:`: the old value answers a call whose block takes too long. Each test runs in C and on
  # ActiveSupport's path.
  class SoftTimeoutTest < StoreCase
    Refreshes = Larder::Store::Refreshes
    OLD = { expires_in: 10, stale_if_error: 60 }.freeze
    SOON = { **OLD, soft_timeout: 0.05 }.freeze
    LATE = { **OLD, soft_timeout: 30 }.freeze

    teardown do
      assert Refreshes.await(LONGEST)
      assert_empty Larder::Store::Flights.held
    end

    # A time at which "key" has the value "old", which has expired.
    def with_old(version: nil)
      store.fetch("key", version: version, **OLD) { "old" }
      travel(11.seconds) { yield Queue.new }
    end

    def refreshed
      assert Refreshes.await(LONGEST)
      store.read("key")
    end

    on_both_paths "a block that takes longer is answered by the old value, goes on, and stores its own" do
      with_old do |gate|
        assert_equal("old", store.fetch("key", SOON) { gate.pop })
        assert_nil store.read("key")
        gate << "new"
        assert_equal "new", refreshed
        assert_equal("new", store.fetch("key", SOON) { flunk })
      end
    end

    on_both_paths "a block that takes less answers the call, also with nil, and runs elsewhere" do
      with_old do
        thread = nil
        assert_nil(store.fetch("key", LATE) { (thread = Thread.current) && nil })
        refute_same Thread.current, thread
        assert store.exist?("key")
      end
    end

    on_both_paths "while it goes on no other call runs the block: they wait as long, too" do
      with_old do |gate|
        runs = Queue.new
        block = -> { (runs << true) && gate.pop }
        3.times { assert_equal("old", store.fetch("key", SOON) { block.call }) }
        waiter = Thread.new { store.fetch("key", LATE) { block.call } }
        Thread.pass until waiter.stop?
        gate << "new"
        assert_equal ["new", 1], [waiter.value, runs.size]
      end
    end

    on_both_paths "without an old value, or with force, the block runs in the caller" do
      caller = Thread.current
      compute = lambda do |options|
        store.fetch("key", options) do
          assert_same caller, Thread.current
          sleep(0.1) && "own"
        end
      end
      assert_equal "own", compute.call(SOON)
      travel(11.seconds) { assert_equal "own", compute.call({ **SOON, stale_if_error: nil }) }
      travel(100.seconds) { assert_equal "own", compute.call({ **SOON, version: 1 }) }
      travel(111.seconds) { assert_equal "own", compute.call({ **SOON, version: 2 }) }
      travel(122.seconds) { assert_equal "own", compute.call({ **SOON, version: 2, force: true }) }
      store.delete("key")
      assert_equal "own", compute.call(SOON)
    end

    on_both_paths "an error is answered by the old value, in time or later, and reported once" do
      with_old do |gate|
        reports = reported { assert_equal("old", store.fetch("key", LATE) { raise IOError, "in time" }) }
        assert_equal ["in time"], reports.map(&:message)
        assert_equal("old", store.fetch("key", SOON) { flunk "fresh for a while" })
        travel 6.seconds
        reports = reported do
          assert_equal("old", store.fetch("key", SOON) { gate.pop && raise(IOError, "later") })
          gate << true
          assert Refreshes.await(LONGEST)
        end
        assert_equal ["later"], reports.map(&:message)
        assert_equal("old", store.fetch("key", SOON) { flunk "fresh for a while" })
      end
    end

    on_both_paths "what is no StandardError is raised in time, and reported" do
      with_old do |gate|
        reports = reported do
          assert_raises(NotImplementedError) { store.fetch("key", LATE) { raise NotImplementedError } }
          assert_equal("old", store.fetch("key", SOON) { gate.pop && raise(NotImplementedError) })
          gate << true
          assert Refreshes.await(LONGEST)
        end
        assert_equal [NotImplementedError] * 2, reports.map(&:class)
        assert_equal("old", store.fetch("key", LATE) { Thread.current.kill })
        assert_equal("new", store.fetch("key", LATE) { "new" })
      end
    end

    on_both_paths "what is deleted while the block goes on stays deleted, and is computed anew" do
      with_old do |gate|
        begun, caller = Queue.new, nil
        late = Thread.new do
          caller = Thread.current
          store.fetch("key", SOON) { caller.equal?(Thread.current) ? "anew" : (begun << true) && gate.pop }
        end
        begun.pop
        store.delete("key")
        assert_equal "anew", late.value
        gate << "of before"
        assert_equal "anew", refreshed
      end
    end

    on_both_paths "a call that finds a value of after a delete does not wait for a block of before" do
      with_old do |gate|
        assert_equal("old", store.fetch("key", SOON) { gate.pop })
        store.delete("key")
        store.fetch("key", OLD) { "second" }
        travel 11.seconds
        late = Thread.new { store.fetch("key", LATE) { "third" } }
        Thread.pass until late.stop?
        gate << "of before"
        assert_equal "third", late.value
        assert_equal "third", refreshed
      end
    end

    on_both_paths "a block that raises after a delete is run by the caller, as there is no old value" do
      with_old do
        caller = Thread.current
        reports_of do
          assert_equal("anew", store.fetch("key", LATE) do
            next "anew" if caller.equal?(Thread.current)

            store.delete("key")
            raise IOError
          end)
        end
        assert_equal "anew", store.read("key")
      end
    end

    on_both_paths "each of those who wait for one computation has a value of its own, which it may change" do
      with_old do |gate|
        callers = Array.new(3) { Thread.new { store.fetch("key", LATE) { gate.pop } } }
        Thread.pass until callers.all?(&:stop?)
        gate << ["new"]
        values = callers.map(&:value)
        values.each_with_index { |value, number| value << number }
        assert_equal [["new", 0], ["new", 1], ["new", 2]], values
        assert_equal ["new"], refreshed
      end
    end

    on_both_paths "if the application's executor fails, or there is no thread, the next call computes" do
      with_old do
        broken = ->(*) { raise ThreadError, "there is no thread" }
        [[Larder::Application, :in_executor], [Thread, :new]].each do |owner, method|
          reports = reported do
            owner.stub(method, broken) do
              assert_equal("old", store.fetch("key", LATE) { flunk })
              assert Refreshes.await(LONGEST)
            end
          end
          assert_equal ["there is no thread"], reports.map(&:message)
        end
        assert_equal("new", store.fetch("key", LATE) { "new" })
      end
    end

    on_both_paths "with a full pool the block runs in the caller" do
      with_old do |gate|
        (2 + 100).times { Refreshes.later { |runs| runs && gate.pop } }
        caller = Thread.current
        assert_equal("new", store.fetch("key", SOON) { sleep(0.1) && caller.equal?(Thread.current) && "new" })
        (2 + 100).times { gate << true }
        assert_equal "new", refreshed
      end
    end

    on_both_paths "key, version and namespace are those of the call" do
      Thread.current[:tenant] = "A"
      cache = new_store(namespace: -> { Thread.current[:tenant].to_s })
      name = [+"key", 1]
      cache.fetch(name, OLD) { "old" }
      travel 11.seconds do
        assert_equal("new", cache.fetch(name, LATE) { "new" })
        assert_equal ["A:key/1"], cache.cache.each_key(now: Time.now.to_f).to_a
      end
    ensure
      Thread.current[:tenant] = nil
    end

    on_both_paths "with single_flight too" do
      with_old do |gate|
        options = { **SOON, single_flight: true }
        2.times { assert_equal("old", store.fetch("key", options) { gate.pop }) }
        gate << "new"
        assert_equal "new", refreshed
      end
      assert_equal("own", store.fetch("none", **SOON, single_flight: true) { sleep(0.1) && "own" })
    end

    on_both_paths "after stale_while_revalidate has ended" do
      options = { **SOON, stale_while_revalidate: 5 }
      store.fetch("key", options) { "old" }
      travel 11.seconds do
        assert_equal("old", store.fetch("key", options) { "second" })
        assert_equal "second", refreshed
      end
      travel(22.seconds) { store.fetch("key", options) { flunk } if store.exist?("key") }
      travel 40.seconds do
        gate = Queue.new
        assert_equal("second", store.fetch("key", options) { gate.pop })
        gate << "third"
        assert_equal "third", refreshed
      end
    end

    on_both_paths "a nested call of the same key answers with the old value" do
      with_old do
        assert_equal("old, too", store.fetch("key", LATE) { "#{store.fetch("key", LATE) { flunk }}, too" })
      end
    end

    on_both_paths "an interrupt reaches who waits" do
      with_old do |gate|
        assert_raises(Timeout::Error) { Timeout.timeout(0.05) { store.fetch("key", LATE) { gate.pop } } }
        gate << "new"
        assert_equal "new", refreshed
      end
    end

    on_both_paths "the events tell what was served" do
      with_old do |gate|
        events = Queue.new
        ActiveSupport::Notifications.subscribed(->(event) { events << event }, /\.larder\z/) do
          2.times { store.fetch("key", SOON) { gate.pop } }
          gate << "new"
          assert Refreshes.await(LONGEST)
        end
        events = Array.new(events.size) { events.pop }
        assert_equal([["stale.larder", :soft_timeout], ["wait.larder", nil], ["stale.larder", :soft_timeout],
                      ["refresh.larder", nil]], events.map { |event| [event.name, event.payload[:reason]] })
      end
    end
  end
end
