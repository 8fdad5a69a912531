# frozen_string_literal: true

# The values of many keys that `fetch_multi` has missed: computed one after the other, stored together.

require "delegate"
require "larder/store/computation"

module Larder
  module Store
    # For a level that is slow. The leases of all keys are taken first, in the remote store by one call, and the values
    # are stored by one call. As others wait for these keys, that ends when the blocks have taken {LONGEST}: the values
    # so far are stored, at least one, and the leases of the other keys are given back. Those keys are left for the
    # caller.
    # @api private
    class ComputedTogether
      include MonotonicClock

      # Seconds.
      LONGEST = 0.1
      private_constant :LONGEST

      # Stands before the store for a {Computation}: keeps what is written.
      class Gathering < SimpleDelegator
        # @return [Hash{Object=>Object}] values by name
        attr_reader :values

        # @param store [ActiveSupport::Cache::LarderStore]
        def initialize(store)
          super
          @values = {}
        end

        # @return [true]
        def write(name, value, _options)
          @values[name] = value
          true
        end
      end
      private_constant :Gathering

      # @return [Hash{Object=>Object}] values by name: computed here, or found in the remote store
      attr_reader :values
      # @return [Array<Call>] of the keys whose leases other callers have
      attr_reader :of_others
      # @return [Boolean] true if the blocks have taken too long, so that keys are left
      attr_reader :slow
      alias slow? slow

      # @param store [ActiveSupport::Cache::LarderStore]
      # @param calls [Array<Call>] with the same options
      # @param block [Proc]
      # @param stamp [String, nil] of tags, if the values begin to be computed earlier than now
      def initialize(store, calls, block, stamp)
        @store = store
        @level = store.level
        @calls = calls
        @block = block
        @stamp = stamp
        @gathering = Gathering.new(store)
        @flights = {}
        @values = {}
        @of_others = []
        @slow = false
      end

      # @return [ComputedTogether]
      def run
        flights = Flights.current
        @calls.each { |call| begin_flight(call) }
        found = @level.across_many(@flights) do |mine|
          @of_others = @calls - mine.keys
          compute_in_time(mine)
          store
        rescue StandardError
          store # what others wait for
          raise
        end
        @values.update(found)
        self
      ensure
        flights&.give_up_each(@flights.values)
      end

      private

      # Begins none of a key whose lease another caller of this machine has.
      def begin_flight(call)
        call.single_flight? ? @level.take_lease(call) { |lease| add_flight(call, lease) } : add_flight(call, false)
      end

      # @param token [String, false] as of Flight
      def add_flight(call, token)
        flight = @flights[call] = Flight.new(@level.records, call.key, token: token)
        Flights.current.add(flight)
      end

      def compute_in_time(flights)
        stamp(flights)
        since = monotonic_now
        flights.each do |call, flight|
          break @slow = true if @values.any? && monotonic_now - since > LONGEST

          computation = Computation.new(@gathering, call, @block, many: true)
          @values[call.name] = computation.value_on(flight)
        end
      end

      # One for all. Deletions of tags that come later concern the values.
      def stamp(flights)
        call = flights.each_key.first
        return unless call && (call.options[:tags] || (call.options[:namespace] && call.leases?))

        stamp = @stamp || @level.stamp(call)
        flights.each_value { |flight| flight.stamp = stamp }
      end

      def store
        gathered = @flights.select { |call, _| @gathering.values.key?(call.name) }
        return if gathered.empty?

        values = gathered.keys.to_h { |call| [call, @gathering.values[call.name]] }
        @store.write_computed(values, gathered.transform_keys(&:key))
        @gathering.values.clear
      end
    end
  end
end
