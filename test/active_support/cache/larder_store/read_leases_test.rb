# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # A `read` with `single_flight:` or `stale_while_revalidate:` that misses takes a lease for the write of its caller.
  # If that write does not come, as where a fragment raises, the thread keeps the lease.
  class ReadLeasesTest < StoreCase
    Flights = Larder::Store::Flights
    FLIGHT = { single_flight: true }.freeze
    LEASING = [FLIGHT, { stale_if_error: 60 }, { stale_while_revalidate: 60 }, { early_refresh: true }].freeze

    teardown { Flights.end_work }

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

    on_both_paths "a write in another fiber leaves the lease of a read, whose own write stores nothing over it" do
      [{}, FLIGHT].each do |given|
        assert_nil store.read("key", FLIGHT)
        Fiber.new { store.write("key", "of another fiber", given) }.resume
        refute store.write("key", "fragment", FLIGHT), given
        assert_equal "of another fiber", store.read("key"), given
        store.delete("key")
      end
    end

    on_both_paths "a read in another fiber does not write under the lease of this one's read" do
      [FLIGHT, { **FLIGHT, expires_in: 60, stale_while_revalidate: 60 }].each do |given|
        assert_nil store.read("key", given)
        Fiber.new { store.read("key", given) || store.write("key", "of another fiber", given) }.resume
        assert_nil store.read("key"), given
        assert store.write("key", "fragment", given)
        assert_equal "fragment", store.read("key"), given
        store.delete("key")
      end
    end

    on_both_paths "the lease of a read ends with the work that has begun it, and not with another one" do
      assert_nil store.read("outside", FLIGHT)
      Flights.begin_work
      assert_nil store.read("inside", FLIGHT)
      [-> { work_within }, -> { Fiber.new { work_within }.resume }].each(&:call)
      assert_equal [true, true], %w[outside inside].map { |key| leased?(key) }
      Flights.end_work
      assert_equal [true, false], %w[outside inside].map { |key| leased?(key) }
      new_store.delete("outside")
      refute store.write("outside", "from before the delete", FLIGHT)
    end

    on_both_paths "the leases of reads in fibers end with the work that they are of" do
      ended = Fiber.new { store.read("ended", FLIGHT) }
      left = Fiber.new { store.read("left", FLIGHT) || Fiber.yield }
      working = Fiber.new { Flights.begin_work && store.read("working", FLIGHT) || Fiber.yield }
      Flights.begin_work
      [ended, left, working].each(&:resume)
      Flights.end_work
      assert_equal [false, false, true], %w[ended left working].map { |key| leased?(key) }
      working.resume
      work_within
      assert_not leased?("working")
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

    private

    def work_within
      Flights.begin_work
      assert_nil store.read("within", FLIGHT)
      assert leased?("within")
      Flights.end_work
      assert_not leased?("within")
    end

    # @return [Boolean] does a caller have the lease of the key?
    def leased?(key)
      records = store.level.records
      status, lease = records.lease(key, 1000, nil, Larder::Store::Clock.now_ms)
      records.lease_end(key, lease, 0, Larder::Store::Clock.now_ms) if status == Larder::Store::Records::TAKEN
      status == Larder::Store::Records::LEASED
    end
  end
end
