# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # Threads that run between two steps of another one: the number of leases that C has stays right.
  class InterruptedTest < StoreCase
    Flights = Larder::Store::Flights
    FLIGHT = { single_flight: true }.freeze

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
