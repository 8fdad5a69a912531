# frozen_string_literal: true

require "support/interruptions"
require "support/store_case"

module LarderStoreTests
  # Threads that raise into each other, as Timeout does, and threads that run in between: the list of computations that
  # a thread has, and the number of leases that C has, stay right.
  class InterruptedTest < StoreCase
    include Interruptions

    Flights = Larder::Store::Flights
    FLIGHT = { single_flight: true }.freeze

    STALE = { stale_while_revalidate: 60, stale_if_error: 60 }.freeze
    KEPT = { **FLIGHT, **STALE }.freeze

    # The keys have values that have expired.
    CALLS = {
      "single flight" => ->(cache, key) { cache.fetch(key, **FLIGHT) { 1 } },
      "a block that is left" => ->(cache, key) { catch(:out) { cache.fetch(key, **FLIGHT) { throw :out } } },
      "tags" => ->(cache, key) { cache.fetch(key, tags: "tag") { 1 } },
      "tags of the block" => ->(cache, key) { cache.fetch(key) { |_, options| options.tags = "tag" } },
      "fetch_multi" => ->(cache, key) { cache.fetch_multi(key, "#{key}, too", **FLIGHT) { 1 } },
      "a stale value" => ->(cache, key) { cache.fetch(key, **STALE) { 1 } },
      "an old value after an error" => ->(cache, key) { cache.fetch(key, stale_if_error: 60) { raise "failed" } },
      "a read before a write" => ->(cache, key) { cache.read(key, **FLIGHT) },
      "a read of a stale value" => ->(cache, key) { cache.read(key, **KEPT) }
    }.freeze

    CALLS.each do |name, call|
      test "an exception of another thread leaves no computation and no lease, wherever it comes: #{name}" do
        [store, shared].each { |cache| everywhere(cache) { |key| call.call(cache, key) } }
      end
    end

    test "a value is stored under its lease, also if another thread's lease ends at that moment" do
      at_the_count, go = Queue.new, Queue.new
      ending = Thread.new { ending_a_lease { at_the_count << true && go.pop } }
      at_the_count.pop
      store.fetch("key", **FLIGHT) do
        go << true
        ending.join
        Thread.new { store.delete("key") }.join
        "deleted"
      end
      assert_nil store.read("key")
    end

    private

    # @return [ActiveSupport::Cache::LarderStore] with two levels
    def shared
      new_store("shared.larder", remote: [:file_store, path_of("far")])
    end

    # Interrupts the call at each place where Ruby looks for exceptions of other threads.
    def everywhere(cache)
      place = 0
      loop do
        key = "key #{place += 1}"
        keys = [key, "#{key}, too"]
        keys.each { |name| cache.write(name, 0, **STALE) && cache.expire(name, **STALE) }
        break unless interrupted_at(place, "/lib/larder/store/") { yield key }

        check(cache, keys, place)
      end
      assert_operator place, :>, 20
    end

    def check(cache, keys, place)
      Flights.end_work # at the end of a request, for reads
      assert_empty Flights.current.instance_variable_get(:@flights), "place #{place}"
      assert Larder::Store::Refreshes.await(5)
      records = cache.level.records
      keys.each do |key|
        status, = records.lease(key, 1, nil, Larder::Store::Clock.now_ms)
        assert_not_equal Larder::Store::Records::LEASED, status, "place #{place}, #{key}"
      end
    end

    # Yields just before C gets the number of leases.
    def ending_a_lease
      flight = Flights.current.add(Larder::Store::Flight.new(store.level.records, "other", token: "lease"))
      trace = TracePoint.new(:c_call) do |point|
        yield if point.self.equal?(Larder::Store::FastPath) && point.method_id != :send
      end
      trace.enable(target_thread: Thread.current) { Flights.current.drop(flight) }
    end
  end
end
