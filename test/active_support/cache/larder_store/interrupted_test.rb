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

    CALLS = {
      "single flight" => ->(cache, key) { cache.fetch(key, **FLIGHT) { 1 } },
      "tags" => ->(cache, key) { cache.fetch(key, tags: "tag") { 1 } },
      "tags of the block" => ->(cache, key) { cache.fetch(key) { |_, options| options.tags = "tag" } },
      "fetch_multi" => ->(cache, key) { cache.fetch_multi(key, **FLIGHT) { 1 } }
    }.freeze

    CALLS.each do |name, call|
      test "an exception of another thread leaves no computation in the list, wherever it comes: #{name}" do
        [store, shared].each { |cache| everywhere { |key| call.call(cache, key) } }
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
    def everywhere
      place, flights = 0, Flights.current
      loop do
        place += 1
        break unless interrupted_at(place, "/lib/larder/store/") { yield "key #{place}" }

        assert_empty flights.instance_variable_get(:@flights), "place #{place}"
      end
      assert_operator place, :>, 20
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
