# frozen_string_literal: true

# A miss with a block: who computes the value, what is stored, and what the answer is if the block raises.

require "larder/store/refreshes"
require "larder/store/single_flight"

module Larder
  module Store
    # The policy of one miss, top to bottom in {#value}.
    # @api private
    class Computation
      include MonotonicClock

      # @return [Float] seconds that the block has taken in this call
      attr_reader :spent

      # @param store [ActiveSupport::Cache::LarderStore] for Rails' events and writes
      # @param call [Call]
      # @param block [Proc] of the caller
      # @param many [Boolean] true for a block of `fetch_multi`, which gets a name alone and sends no event
      def initialize(store, call, block, many: false)
        @store = store
        @level = store.level
        @call = call
        @block = block
        @many = many
        @spent = 0.0
      end

      # @param deadline [Float, nil] until when the call may wait, by the monotonic clock; nil: its `wait:` begins now
      # @return [Object] the value that was computed here or by another caller, or the old one after an error
      def value(deadline = nil)
        or_old do
          next compute_and_store unless @call.single_flight?

          @store.single_flight.run(@call, deadline || (monotonic_now + @call.wait)) do |stores, flight|
            stores ? compute_and_store(flight) : compute.first
          end
        end
      end

      # As {#value}, on a flight that the caller ends.
      #
      # @param flight [Flight]
      # @return [Object]
      def value_on(flight)
        or_old do
          next compute_and_store(flight) unless flight.leased?

          @store.single_flight.on_flight(@call, flight) { compute_and_store(flight) }
        end
      end

      # Computes a value again that has expired or soon will, once and later.
      #
      # @param entry [ActiveSupport::Cache::Entry, nil] the old one; nil: it is in the file
      # @param early [Boolean] true if it has not expired
      # @return [void]
      def refresh(entry, early)
        @store.announce("stale.larder", @call, reason: :stale_while_revalidate) unless early
        token = nil
        take_over(early) { |lease| token = lease } or return

        later = Computation.new(@store, @call.later, ->(_, options) { @block.call(@call.name, options) })
        Refreshes.later { |runs| later.refresh_now(token, entry, runs) }
        awaited = true
      ensure
        @level.end_lease(@call.key, token) unless token.nil? || awaited
      end

      # @param token [String] the lease
      # @param runs [Boolean] false: there is no room for it
      # @return [void]
      def refresh_now(token, entry, runs)
        began = Clock.now
        return @level.end_lease(@call.key, token) unless runs && !@level.backs_off?(@call, entry)

        @store.single_flight.holding(@call) { |hold| recompute(hold.call(token)) }
      rescue Exception => e # rubocop:disable Lint/RescueException -- nothing else would report it
        @store.answered_with_old_value(e)
        @level.back_off(@call, began)
      end

      # @param flight [Flight] that the caller ends
      # @return [Array, nil] the value; nil: the block raised, which is reported
      def recompute(flight)
        value = @store.single_flight.on_flight(@call, flight, backs_off: true) do
          @level.records.count_deed(Records::REFRESHED, @call.key)
          @store.announce("refresh.larder", @call) { compute_and_store(flight) }
        end
        [value]
      rescue StandardError => e
        @store.answered_with_old_value(e)
        nil
      end

      # Takes the lease of a key whose value has expired, or has to be computed early.
      #
      # @yieldparam lease [String] that was taken, as of LocalLevel#take_lease
      # @return [Object, nil] the block's value; nil: no lease was taken
      def take_over(early, &hold)
        status, lease = @level.take_lease(@call, &hold)
        if status == Records::PRESENT
          return unless early || @level.kept_copy(@call.key)&.expired? # another caller was faster

          status, lease = @level.take_lease(@call, lease, &hold)
        end
        lease if status == Records::TAKEN
      end

      private

      # An error of the block is answered with the old value, if `stale_if_error:` allows that.
      def or_old
        return yield unless @call.options[:stale_if_error]

        earlier = $ERROR_INFO
        begin
          yield
        rescue StandardError => e
          # A lease that is held here is of a refresh.
          raise if !@running_since || Outside.raised?(e, since: earlier) ||
                   Flights.of(@level.records, @call.key)

          serve_after(e)
        end
      end

      # The old value counts as fresh for a while, so that not every call fails.
      def serve_after(error)
        entry = @call.usable(@level.kept(@call), :stale_if_error) or raise error
        @level.back_off(@call, @running_since, entry)
        @store.answered_with_old_value(error)
        @store.announce("stale.larder", @call, reason: :stale_if_error)
        entry.value
      end

      # Deletions of tags, and of the namespace, that come while the block runs concern the value. The block may set
      # the tags, so the stamp is always of before the block.
      def compute_and_store(flight = nil)
        return compute_on(flight) if flight
        if @call.leases? || @call.options[:tags]
          return Flights.within(Flight.new(@level.records, @call.key)) { |unleased| compute_on(unleased) }
        end

        stamp = @level.stamp
        value, options = compute
        return store(value, options) unless options[:tags]

        Flights.within(Flight.new(@level.records, @call.key, stamp: stamp)) { store(value, options) }
      end

      # A flight that has ended, as its block has written the key itself, has no value to store.
      def compute_on(flight)
        tagged = @call.options[:tags] || (@call.options[:namespace] && @call.leases?)
        @call.texts if tagged # raises for what is not a tag, before the value is computed
        stamp = flight.stamp || @level.stamp(@call)
        flight.stamp = stamp if tagged
        value, options = compute
        flight.stamp = stamp if options[:tags]
        flight.compute_ms = (@took * 1000).ceil if @call.options[:early_refresh]
        flight.ended ? value : store(value, options)
      end

      def store(value, options)
        @store.write(@call.name, value, options) unless value.nil? && options[:skip_nil]
        value
      end

      # @return [Array(Object, Hash)] the value, and the options of its write, which the block may have changed
      def compute
        from = monotonic_now
        begin
          @running_since = Clock.now
          computed = @many ? [@block.call(@call.name), @call.options] : @store.generate(@call, &@block)
          @running_since = nil
          computed
        ensure
          @took = monotonic_now - from
          @spent += @took
        end
      end
    end
  end
end
