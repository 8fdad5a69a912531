# frozen_string_literal: true

# Single flight: of many callers that miss a key, in all processes of the machine, one computes the value, and the
# others wait for it.

require "English"
require "larder/outside"
require "larder/store/leases"
require "larder/store/monotonic_clock"

module Larder
  module Store
    # For calls with `single_flight: true`. Who computes has a lease of the key, which is in the file
    # (docs/adr/0030-single-flight.md). A caller that cannot have it or wait for it computes its value too, and does not
    # store it.
    #
    # Nobody waits for itself: not for a lease of its own fiber, nor for one of another fiber of its thread, unless a
    # fiber scheduler runs those. And who holds a lease waits only for keys that sort after all that it holds, so
    # callers never wait in a circle.
    module SingleFlight
      include MonotonicClock

      # Seconds.
      WAIT = 5
      LEASE = 30
      # Between two looks of a fiber. Its scheduler runs others in between.
      LOOK = 0.005
      private_constant :LEASE, :LOOK

      # As Rails', but with `single_flight: true`, or options by which stale values are served, each value that this
      # call computes is stored at once.
      #
      # @overload fetch_multi(*names, &block)
      ruby2_keywords def fetch_multi(*names, &block)
        given = names.last.is_a?(Hash) ? names.last : {}
        return super unless block_given? && !names.empty? &&
                            [@options, given].any? { |all| all.key?(:single_flight) || keeps?(all) }

        options = merged_options(given).dup # the block may change those of the store
        return super unless flies?(options) || keeps?(options)

        names = names[0...-1] if names.last.equal?(given)
        instrument_multi(:read_multi, instrumented_keys(names, options), options) do |payload|
          found = find_many(names, options, block)
          computed = fetch_missing(names - found.keys, options, block)
          payload[:hits] = instrumented_keys(found.keys, options)
          payload[:super_operation] = :fetch_multi
          names.to_h { |name| [name, found.fetch(name) { computed[name] }] }
        end
      end

      # As Rails'. With `single_flight: true` among the options of the call, as the `cache` of a view gives them, a miss
      # waits for who computes the value, or takes the lease for the write that follows.
      #
      # @overload read(name, options = nil)
      ruby2_keywords def read(name, *given)
        value = super
        options = given.first
        return value unless value.nil? && options.is_a?(Hash) && flies?(options)

        options = merged_options(options)
        read_in_flight(name, normalize_key(name, options), options)
      end

      # As Rails'. Gives up the leases of earlier reads of the key if this is not the write that they announced.
      #
      # @overload write(name, value, options = nil)
      ruby2_keywords def write(name, value, *given)
        options = given.first
        give_up_reads(name, options) if Leases.any? && (leases?(@options) || (options.is_a?(Hash) && leases?(options)))
        super
      end

      private

      # The write that stores a value for a `read` has the option of the read: the `cache` of a view gives it to both.
      # Any other replaces what the key has, also if another caller has written since the read. So the option of the
      # store alone does not count.
      def give_up_reads(name, given)
        key = normalize_key(name, merged_options(given))
        Leases.all_of(@records, key).each do |lease|
          Leases.give_up(lease, now_ms) unless lease.option.nil? || (given.is_a?(Hash) && given[lease.option])
        end
      end

      # A Hash with a default has no option that was not given.
      def flies?(options)
        options.key?(:single_flight) && options[:single_flight] && !options[:force]
      end

      # Store's, called after a miss of `fetch`.
      def save_block_result_to_cache(name, *key, options, &block)
        return super unless flies?(options)

        text = key.first || normalize_key(name, options)
        fly(name, text, options, deadline_of(options)) do |stores|
          stores ? super : generate(name, text, options.dup, &block)
        end
      end

      # What `fetch_multi` need not compute.
      def find_many(names, options, _block)
        read_multi_entries(names, **options)
      end

      # Called by the fast path after a miss of `fetch`.
      def fetch_in_flight(name, key, options, block)
        arguments = Keys::INSTRUMENTS_KEYS ? [name, key, options] : [name, options]
        save_block_result_to_cache(*arguments, &block)
      end

      # Called by the fast path after a miss of `read`.
      def read_in_flight(name, key, options)
        what, found = join_flight(name, key, options, deadline_of(options))
        case what
        when :found then return found
        when :leased then hold_for_write(key, found, options, :single_flight)
        when :alone then hold_for_write(key, nil, options, :single_flight)
        end
        nil
      end

      # @param lease [String, nil] nil: another caller's, so that the write stores nothing
      # @param option [Symbol] of the read
      def hold_for_write(key, lease, options, option)
        Leases.hold(@records, key, lease, option, Leases.seconds(key, lease_seconds(options)))
      end

      # The values of names that `fetch_multi` did not find. Computes those first that nobody else computes.
      def fetch_missing(names, options, block)
        computed = {}
        waiting = names.uniq.reject do |name|
          key = normalize_key(name, options)
          status, lease = take_lease(key, options, nil)
          next unless status == Records::TAKEN

          computed[name] = or_old(name, key, options, block) do |watched|
            with_lease(key, lease, options) { compute_one(name, options, watched) }
          end
          true
        end
        computed.update(await_missing(waiting, options, block))
      end

      # All waits together take `wait:` at most; the time of this call's own blocks does not count.
      def await_missing(names, options, block)
        deadline = deadline_of(options)
        names.to_h do |name|
          key = normalize_key(name, options)
          value = or_old(name, key, options, block) do |watched|
            fly(name, key, options, deadline) do |stores|
              from = monotonic_now
              stores ? compute_one(name, options, watched) : watched.call(name)
            ensure
              deadline += monotonic_now - from
            end
          end
          [name, value]
        end
      end

      # StaleServing answers an error of the block with an old value.
      def or_old(_name, _key, _options, block)
        yield block
      end

      def compute_one(name, options, block)
        stamping(name, options) do
          value, terms = computed(options) { block.call(name) }
          write(name, value, terms) unless value.nil? && options[:skip_nil]
          value
        end
      end

      # @return [Float] until when this call may wait for others, by the monotonic clock
      def deadline_of(options)
        monotonic_now + (options[:wait] || WAIT).to_f
      end

      # Answers the value of a flight. Yields to compute it: true, and what is written is stored; or false.
      #
      # @param deadline [Float] as of {#deadline_of}, for all waits of the call
      def fly(name, key, options, deadline)
        what, found = join_flight(name, key, options, deadline)
        case what
        when :found then found
        when :leased then with_lease(key, found, options) { yield true }
        else yield what != :alone
        end
      end

      # @return [Array] :found and the value; :leased and a lease; :alone; or :plain, as no lease can be stored
      def join_flight(name, key, options, deadline)
        over = nil
        loop do
          status, lease = take_lease(key, options, over)
          return [:leased, lease] if status == Records::TAKEN
          return [:plain] unless status

          joined = if status == Records::LEASED then await_value(name, key, options, lease, deadline)
                   else found_value(name, key, options)
                   end
          go_alone(key, options, joined.last) if joined&.first == :alone
          return joined if joined
          return [:alone] if over && status == Records::PRESENT && monotonic_now > deadline # it changes all the time

          over = status == Records::PRESENT ? lease : nil
        end
      end

      def go_alone(key, options, waited)
        @records.count_deed(Records::COMPUTED_ALONE)
        announce("compute_alone.larder", key, options, waited: waited)
      end

      # @return [Array, nil] :found and the value; or nil
      def found_value(name, key, options)
        landed(value_read(key, name, options[:version]))
      end

      def landed(value)
        [:found, value] unless value.equal?(FastPath::NONE) || value.equal?(FastPath::EXPIRED)
      end

      # @return [Array, nil] :found and the value; :alone and whether it has waited; nil: the lease ended
      def await_value(name, key, options, lease, deadline)
        return [:alone, false] unless may_await?(key) && monotonic_now < deadline

        @records.count_deed(Records::WAITED)
        announce("wait.larder", key, options) do |payload|
          ended = await_lease(key, lease, deadline)
          joined = found_value(name, key, options) if ended
          payload[:hit] = !joined.nil?
          ended ? joined : [:alone, true]
        end
      end

      def take_lease(key, options, over)
        failsafe(:fetch) do
          @records.lease(key, (Leases.seconds(key, lease_seconds(options)) * 1000).ceil, over, now_ms)
        end
      end

      # @return [Boolean] has it ended? False: this caller has waited as long as it may.
      def await_lease(key, lease, deadline)
        ended = false
        ended = ended?(key, lease, deadline) until ended || monotonic_now >= deadline
        ended
      end

      # @param own [Leases::Lease, nil] that this caller has of the key itself
      def may_await?(key, own = nil)
        Leases.held.all? do |lease|
          lease.equal?(own) || lease.over? || lease.key < key || (lease.fiber != Fiber.current && scheduled?)
        end
      end

      def scheduled?
        Fiber.current_scheduler ? true : false
      end

      def ended?(key, lease, deadline)
        left = [deadline - monotonic_now, 0].max
        wait = scheduled? ? 0 : (left * 1000).ceil.clamp(0, 1000)
        sleep([left, LOOK].min) if scheduled?
        failsafe(:fetch, returning: true) { @records.lease_wait(key, lease, wait, now_ms) }
      end

      # @param backs_off [Object] true if the old value may be the answer for a while when the block raises
      def with_lease(key, bytes, options, backs_off: options[:stale_if_error])
        fresh = 0
        began = now
        earlier = $ERROR_INFO
        lease = Leases.hold(@records, key, bytes)
        yield
      rescue StandardError => e
        fresh = after_error(key, options, began) if backs_off && !Outside.raised?(e, since: earlier)
        raise
      ensure
        Leases.give_up(lease, now_ms, fresh) if lease
      end

      # Entries', under the lease of this thread if it has one of the key and the write is of a call that takes leases:
      # then what was deleted or written while the value was computed stays so.
      def store_record(key, record, time, options = nil)
        lease = Leases.of(@records, key) if options && leases?(options)
        return super unless lease

        stored = lease.bytes ? @records.set_leased(key, record, time, lease.bytes) : false
        Leases.drop(lease)
        Leases.note_overrun(lease, lease_seconds(options)) unless stored || lease.bytes.nil?
        stored
      ensure
        Leases.give_up(lease) if lease # nothing more if it was dropped
      end

      def lease_seconds(options)
        (options[:lease] || LEASE).to_f
      end

      def leases?(options)
        flies?(options) || keeps?(options)
      end
    end
  end
end
