# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # A `read` with `single_flight:` or `stale_while_revalidate:` that misses takes a lease for the write of its caller.
  # If that write does not come, as where a fragment raises, the thread keeps the lease.
  class ReadLeasesTest < StoreCase
    FLIGHT = { single_flight: true }.freeze
    LEASING = [FLIGHT, { stale_if_error: 60 }, { stale_while_revalidate: 60 }, { early_refresh: true }].freeze

    teardown { Larder::Store::Flights.give_up_all }

    LEASING.each do |given|
      on_both_paths "a write without the option stores in any case in a store with #{given.keys.first}" do
        cache = new_store(**given)
        assert_nil cache.read("key", FLIGHT)
        store.write("key", "of another caller")
        assert cache.write("key", "written")
        assert_equal "written", store.read("key")
      end

      next if given == FLIGHT

      on_both_paths "a write with #{given.keys.first} alone stores in any case" do
        2.times { assert_nil store.read("key", FLIGHT) }
        new_store.write("key", "of another caller")
        assert store.write("key", "written", given)
        assert_equal "written", store.read("key")
      end
    end

    on_both_paths "a write without the option stores in any case after a read with stale_while_revalidate" do
      store.write("key", "old", expires_in: 0.001, stale_while_revalidate: 60)
      sleep 0.01 # until it has expired
      assert_nil store.read("key", stale_while_revalidate: 60)
      new_store.write("key", "of another caller")
      assert store.write("key", "written", stale_if_error: 60)
      assert_equal "written", store.read("key")
    end

    on_both_paths "a write in a forked child stores, although its parent has read the key" do
      cache = new_store(**FLIGHT)
      assert_nil cache.read("key", FLIGHT)
      assert in_child { cache.write("key", "of the child") }
      assert_equal "of the child", store.read("key")
    end

    on_both_paths "a write with the option of the read stores nothing over what another caller has written" do
      cache = new_store(stale_if_error: 60)
      assert_nil cache.read("key", FLIGHT)
      store.write("key", "of another caller")
      refute cache.write("key", "fragment", FLIGHT)
      assert_equal "of another caller", store.read("key")
    end

    on_both_paths "a lease that has ended by its time keeps no caller from waiting for another key" do
      assert_nil store.read("later key", lease: 0.001, **FLIGHT)
      sleep 0.01 # until it has ended
      begun, open = Queue.new, Queue.new
      computing = Thread.new { store.fetch("key", FLIGHT) { (begun << true) && open.pop && "computed" } }
      begun.pop
      starts = Class.new do
        define_method(:start) { |*| open << true }
        define_method(:finish) { |*| nil }
      end
      opener = ActiveSupport::Notifications.subscribe("wait.larder", starts.new)
      alone = ActiveSupport::Notifications.subscribe("compute_alone.larder") { open << true }
      assert_equal("computed", store.fetch("key", wait: 60, **FLIGHT) { "alone" })
    ensure
      [opener, alone].each { |one| ActiveSupport::Notifications.unsubscribe(one) }
      computing.join
    end
  end
end
