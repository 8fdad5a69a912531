# frozen_string_literal: true

# Single flight: of many callers that miss a key, in all processes of the machine, one computes the value, and the
# others wait for it.

require "English"
require "larder/bytes/outside"
require "larder/store/flights"
require "larder/bytes/monotonic_clock"

module Larder
  module Store
    # The caller that computes has a lease of the key, which is in the file (docs/adr/0030-single-flight.md). A caller
    # that can neither have it nor wait for it computes its value too, and does not store it.
    #
    # No caller waits for itself: not for a lease of its own fiber, nor for one of another fiber of its thread, unless a
    # fiber scheduler runs those. And a caller that holds a lease waits only for keys that sort after all that it holds,
    # so callers never wait in a circle.
    # @api private
    class SingleFlight
      include MonotonicClock

      # Seconds between two looks of a fiber. Its scheduler runs others in between.
      LOOK = 0.005
      private_constant :LOOK

      class << self
        # @param own [Flight, nil] of this caller for the key itself
        # @return [Boolean] true if this caller may wait for the key
        def may_wait?(key, own = nil)
          Flights.held.all? do |flight|
            flight.equal?(own) || flight.over? || flight.key < key || (flight.fiber != Fiber.current && scheduled?)
          end
        end

        # @return [Boolean] true if a fiber scheduler runs this fiber
        def scheduled?
          Fiber.current_scheduler ? true : false
        end
      end

      # @param level [LocalLevel, TwoLevels]
      # @param events [#announce]
      def initialize(level, events)
        @level = level
        @records = level.records
        @events = events
      end

      # Answers a value that another caller has computed, or yields to compute it.
      #
      # @param deadline [Float] until when the call may wait, by the monotonic clock
      # @yieldparam stores [Boolean] true if the value is to be stored
      # @yieldparam flight [Flight, nil] nil: without a lease
      # @return [Object] the value
      def run(call, deadline)
        loop do
          answer = holding(call) do |hold|
            state, found = join(call, deadline, &hold)
            return found if state == :found
            return yield(false, nil) if state == :alone

            @level.across(call, found, deadline) do |stores|
              on_flight(call, found) { yield stores, found } # an error is known before a remote lease ends
            end
          end
          return answer unless answer.equal?(TwoLevels::RemoteLease::AGAIN)
        end
      end

      # @yieldparam lease [String] that was taken, as of LocalLevel#take_lease
      # @return [Array] :found and the value; :leased and the block's value; :alone; :plain, as no lease can be stored
      def join(call, deadline, &hold)
        over = nil
        loop do
          status, lease = @level.take_lease(call, over, &hold)
          return [:leased, lease] if status == Records::TAKEN
          return [:plain] unless status

          joined = status == Records::LEASED ? await(call, lease, deadline) : found(call)
          go_alone(call, joined.last) if joined&.first == :alone
          return joined if joined
          return [:alone] if over && status == Records::PRESENT && monotonic_now > deadline # it changes all the time

          over = status == Records::PRESENT ? lease : nil
        end
      end

      # Waits for the owner of a lease.
      #
      # @return [Array, nil] :found and the value; :alone and whether it has waited; nil: the lease ended
      def await(call, lease, deadline)
        return [:alone, false] unless SingleFlight.may_wait?(call.key) && monotonic_now < deadline

        @records.count_deed(Records::WAITED, call.key)
        @events.announce("wait.larder", call) do |payload|
          ended = await_end(call.key, lease, deadline)
          joined = found(call) if ended
          payload[:hit] = !joined.nil?
          ended ? joined : [:alone, true]
        end
      end

      # Gives up the lease that the block takes, if its value was not stored.
      #
      # @yieldparam hold [Proc] as the block of LocalLevel#take_lease: makes the flight of a lease
      # @return [Object] the block's value
      def holding(call)
        flights = Flights.current
        flight = nil
        yield ->(lease) { flight = flights.add(Flight.new(@records, call.key, token: lease)) }
      ensure
        flights.give_up(flight) if flight
      end

      # Computes a value on a flight. Its lease ends if the block raises; otherwise the caller ends it.
      #
      # @param flight [Flight, nil] nil: there is no lease
      # @param backs_off [Object] true if the old value may be the answer for a while when the block raises
      # @return [Object] the block's value
      def on_flight(call, flight, backs_off: call.options[:stale_if_error])
        return yield unless flight

        began = Clock.now
        earlier = $ERROR_INFO
        yield
      rescue StandardError => e
        fresh = backs_off && !Outside.raised?(e, since: earlier) ? @level.after_error(call, began) : 0
        Flights.current.give_up(flight, fresh)
        raise
      end

      private

      # @return [Array, nil] :found and the value; or nil
      def found(call)
        entry = @level.landed(call)
        [:found, entry.value] if entry && !entry.expired? && !entry.mismatched?(call.version)
      rescue ActiveSupport::Cache::DeserializationError
        nil
      end

      def go_alone(call, waited)
        @records.count_deed(Records::COMPUTED_ALONE, call.key)
        @events.announce("compute_alone.larder", call, waited: waited)
      end

      # @return [Boolean] has it ended? False: this caller has waited as long as it may.
      def await_end(key, lease, deadline)
        ended = false
        ended = ended?(key, lease, deadline) until ended || monotonic_now >= deadline
        ended
      end

      def ended?(key, lease, deadline)
        left = [deadline - monotonic_now, 0].max
        wait = SingleFlight.scheduled? ? 0 : (left * 1000).ceil.clamp(0, 1000)
        sleep([left, LOOK].min) if SingleFlight.scheduled?
        @level.lease_over?(key, lease, wait, true)
      end
    end
  end
end
