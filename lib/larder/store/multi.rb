# frozen_string_literal: true

# The multi forms: one call of the level for all keys.

require "larder/store/computed_together"

module Larder
  module Store
    # Rails' methods of the same names, and the hooks under them.
    module Multi
      # As Rails'. With `stale_while_revalidate:` among the options of the call, entries that are stale are found, too.
      # They are not computed again, as there is no block.
      ruby2_keywords def read_multi(*names)
        given = names.last
        return super unless given.is_a?(Hash) && given.key?(:stale_while_revalidate) && Call.keeps?(given)

        options = merged_options(names.pop)
        instrument_multi(:read_multi, instrumented_keys(names, options), options) do |payload|
          found = kept_entries(calls_of(names, options))
          found.each do |call, entry|
            announce("stale.larder", call, reason: :stale_while_revalidate) if entry.expired?
          end
          payload[:hits] = instrumented_keys(found.keys.map(&:name), options)
          found.to_h { |call, entry| [call.name, entry.value] }
        end
      end

      # As Rails'. With `single_flight: true`, or options that let stale values be served, each value that this call
      # computes is stored at once; with a remote store the values of a short while are stored together. With tags, the
      # values begin to be computed with the first block.
      ruby2_keywords def fetch_multi(*names, &block)
        given = names.last if names.last.is_a?(Hash)
        return super unless block && !names.empty? && [@options, given].any? { |options| special?(options) }

        options = merged_options(given).dup # the block may change those of the store
        unless Call.leases?(options)
          return options[:tags] ? with_stamp(options, block) { |stamping| super(*names, &stamping) } : super
        end

        within_stamp(given, options) do |stamp|
          names.pop if given
          instrument_multi(:read_multi, instrumented_keys(names, options), options) do |payload|
            fetch_each(names, options, payload, block, stamp)
          end
        end
      end

      # Stores many at once.
      #
      # @overload write_multi(hash, options = nil)
      #   @param hash [Hash] values by name
      #   @param options [Hash, nil] as for write
      #   @return [Hash, nil] the given Hash; nil: not all of it could be stored
      #   @example
      #     cache.write_multi({ "a" => 1, "b" => 2 }, expires_in: 60)
      ruby2_keywords def write_multi(hash, *)
        super && hash
      end

      # Stores values that a call has computed.
      #
      # @api private
      # @param values [Hash{Call=>Object}] of calls with the same options
      # @param flights [Hash{String=>Flight}] by key
      # @return [void]
      def write_computed(values, flights)
        options = values.each_key.first.options
        named = values.transform_keys { |call| Keys::INSTRUMENTS_MANY_KEYS ? call.key : call.name }
        instrument_multi(:write_multi, named, options) do
          entries = values.to_h do |call, value|
            [call.key, ActiveSupport::Cache::Entry.new(value, **options, version: call.version)]
          end
          write_multi_entries(entries, flights: flights, **options)
        end
      end

      private

      # True if the options may have an effect on how missing values are computed.
      def special?(options)
        options ? options.key?(:single_flight) || options.key?(:tags) || Call.keeps?(options) : false
      end

      # Tags concern all values of a call, from its first block on.
      #
      # @yieldparam stamping [Proc] the same block
      def with_stamp(options, block)
        flight = Flight.new(level.records, nil)
        Flights.within(flight) do
          yield lambda { |name|
            flight.stamp ||= level.stamp(call_for(nil, options))
            block.call(name)
          }
        end
      end

      # Tags of the call concern all its values.
      def within_stamp(given, options)
        return yield unless given && given[:tags]

        stamp = level.stamp(call_for(nil, options))
        Flights.within(Flight.new(level.records, nil, stamp: stamp)) { yield stamp }
      end

      def fetch_each(names, options, payload, block, stamp)
        calls = calls_of(names, options)
        found = options[:force] ? {} : find_each(calls, block)
        computed = compute_missing(calls.reject { |call| found.key?(call.name) }, block, stamp)
        payload[:hits] = instrumented_keys(found.keys, options)
        payload[:super_operation] = :fetch_multi
        names.to_h { |name| [name, found.fetch(name) { computed[name] }] }
      end

      # @return [Hash{Object=>Object}] values by name. Has computed again what is due.
      def find_each(calls, block)
        return {} if calls.empty?
        return read_multi_entries(calls.map(&:name), **calls.first.options) unless calls.first.keeps?

        one = ->(name, _options) { block.call(name) }
        kept_entries(calls).to_h do |call, entry|
          refresh_if_due(entry, call, one)
          [call.name, entry.value]
        end
      end

      # @param stamp [String, nil] of tags
      # @return [Hash{Object=>Object}] values by name
      def compute_missing(calls, block, stamp = nil)
        calls = calls.uniq(&:name)
        return {} if calls.empty?

        together = level.slow? && unpatched?
        computed = together ? compute_together(calls, block, stamp) : {}
        left = calls.reject { |call| computed.key?(call.name) }
        computations = left.to_h { |call| [call, Computation.new(self, call, block, many: true)] }
        computed.update(compute_left(computations, together))
      end

      # Those whose leases no other caller has: all together, or one after the other if the blocks are slow.
      def compute_together(calls, block, stamp)
        computed = {}
        slow = false
        until calls.empty?
          together = ComputedTogether.new(self, slow ? calls.first(1) : calls, block, stamp)
          computed.update(together.run.values)
          slow ||= together.slow?
          calls = calls.reject { |call| computed.key?(call.name) || together.of_others.include?(call) }
        end
        computed
      end

      # @param of_others [Boolean] do other callers have their leases?
      # @return [Hash{Object=>Object}] values by name
      def compute_left(computations, of_others)
        return {} if computations.empty?
        return compute_each(computations) unless computations.each_key.first.single_flight?

        computed = of_others ? {} : compute_leased(computations)
        computed.update(await_missing(computations.reject { |call, _| computed.key?(call.name) }))
      end

      def compute_each(computations)
        computations.to_h { |call, computation| [call.name, computation.value] }
      end

      # The values whose leases no other caller has come first.
      def compute_leased(computations)
        computations.each_with_object({}) do |(call, computation), computed|
          single_flight.holding(call) do |hold|
            status, flight = level.take_lease(call, &hold)
            computed[call.name] = computation.value_on(flight) if status == Records::TAKEN
          end
        end
      end

      # All waits together take `wait:` at most; the time of this call's own blocks does not count.
      def await_missing(computations)
        return {} if computations.empty?

        deadline = monotonic_now + computations.each_key.first.wait
        computations.to_h do |call, computation|
          value = computation.value(deadline)
          deadline += computation.spent
          [call.name, value]
        end
      end

      # @return [Hash{Call=>ActiveSupport::Cache::Entry}] entries that can be served
      def kept_entries(calls)
        level.kept_many(calls).select do |call, entry|
          call.usable(entry, :stale_while_revalidate) || level.not_used(call.key, entry)
        end
      end

      # @param options [Hash] merged
      # @return [Array<Call>]
      def calls_of(names, options)
        prefix = namespace_prefix(options)
        names.map do |name|
          Call.new(name, normalize_key(name, options), options, normalize_version(name, options), prefix)
        end
      end

      # ---- Rails' hooks ----

      def read_multi_entries(names, **options)
        return super if names.empty? || overridden?(:read_entry)

        options.delete(:event)
        expired = []
        results = values_of(level.read_many(calls_of(names, options)), expired)
        level.drop_expired(expired) if expired.any?
        results
      end

      # @param found [Hash{Call=>ActiveSupport::Cache::Entry, String}]
      # @param expired [Array<String>] gets keys
      # @return [Hash{Object=>Object}] by name
      def values_of(found, expired)
        found.each_with_object({}) do |(call, entry), values|
          next values[call.name] = entry if entry.instance_of?(String)

          expired << call.key if entry.expired?
          next level.not_used(call.key) if entry.expired? || entry.mismatched?(call.version)

          values[call.name] = entry.value
        rescue ActiveSupport::Cache::DeserializationError
          level.not_used(call.key) # the value's class is gone
        end
      end

      # Is the method of one entry another one than ours? Then it is called for each, as Rails' stores do.
      def overridden?(name)
        !method(name).owner.equal?(Entries)
      end

      # @return [Hash, nil] the given Hash; nil: not all of it could be stored
      def write_multi_entries(entries, flights: nil, **options)
        spread(entries, options[:jitter]) if options[:jitter]
        return super(entries, **options) if overridden?(:write_entry)

        call = call_for(nil, options)
        (flights ? level.write_many(entries, call, flights) : level.write_many(entries, call)) && entries
      end

      # As {Entries#with_jitter}: entries that are stored together do not expire together.
      def spread(entries, jitter)
        entries.each_value do |entry|
          life = entry.expires_at && (entry.expires_at - Clock.now)
          entry.expires_at -= life * rand * jitter if life&.positive?
        end
      end

      def delete_multi_entries(keys, **)
        return super if overridden?(:delete_entry)

        level.delete_many(keys)
      end
    end
  end
end
