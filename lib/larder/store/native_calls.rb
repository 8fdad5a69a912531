# frozen_string_literal: true

# The methods that the fast path (ext/larder/rails/) calls for what it does not do in C.

module Larder
  module Store
    # Keys are Strings as C has made them, and options are merged.
    # @api private
    module NativeCalls
      private

      # After a miss of `fetch`.
      def fetch_in_flight(name, key, options, block)
        compute(native_call(name, key, options), block)
      end

      # After a hit of `fetch` whose value is to be computed again.
      def refresh(name, key, options, block, early)
        Computation.new(self, native_call(name, key, options), block).refresh(nil, early)
      end

      # After a miss of `read` with single_flight.
      def read_in_flight(name, key, options)
        read_in_single_flight(native_call(name, key, options))
      end

      # After a miss of `read` with tags.
      #
      # @param given [Hash, nil] options of the call alone
      def note_stamp(key, given)
        call = call_for(key, merged_options(given)) if level.slow?
        Flights.current.note_read(Flight.new(level.records, key, stamp: level.stamp(call)))
      end

      # After `fetch_multi` has found all others.
      def fetch_missing(names, options, block)
        compute_missing(calls_of(names, options), block)
      end

      # The entries that the file does not have.
      #
      # @param keys [Hash{Object=>String}] by name
      # @return [Hash{Object=>Object}] values by name
      def read_remote_multi(keys, options)
        prefix = namespace_prefix(options)
        calls = keys.map do |name, key|
          Call.new(name, key, options, normalize_version(name, options), prefix)
        end
        values_of(level.remote_many(calls), [])
      end

      # Stores the value of a block that has set tags.
      #
      # @param stamp [String, nil] of before the block
      def write_tagged(name, key, value, options, stamp)
        flight = Flight.new(level.records, key, stamp: stamp || Flight::NEVER)
        Flights.within(flight) { write(name, value, options) }
      end

      # Stores a value that is not plain.
      def store_dumped(key, value, version, expires_at, expires_in, race_condition_ttl, time)
        bytes = @coder.dump(ActiveSupport::Cache::Entry.new(value, expires_at: expires_at, version: version))
        record = level.format.dumped_record(bytes, expires_in, race_condition_ttl)
        level.failsafe.guard_write(:write_entry) { level.store(key, record, nil, nil, time) }
      end

      # Stores a plain value that is large, or whose lock was taken.
      def store_bytes(key, bytes, flags, ttl_ms, time)
        level.failsafe.guard_write(:write_entry) { level.store(key, [bytes, flags, ttl_ms], nil, nil, time) }
      end

      # Stores plain values.
      def store_records(records, time)
        level.store_records(records, time)
      end

      # Reads bytes that are not a plain value.
      #
      # @return [Object] the entry's value, NONE or EXPIRED
      def value_found(bytes, version)
        value_or_none(level.format.load(bytes), version)
      end

      # As value_found, for a record that tells until when the value is fresh: the bytes may say that it has expired.
      def value_kept(bytes, version)
        value_or_none(level.format.load(bytes)&.tap { |entry| entry.expires_at = nil }, version)
      end

      # As value_found, for an entry that C cannot read.
      def value_read(key, name, options)
        version = normalize_version(name, options)
        entry = read_entry(key, **options, version: version)
        value = value_or_none(entry, version)
        level.not_used(key) if entry && [FastPath::NONE, FastPath::EXPIRED].any? { |none| none.equal?(value) }
        value
      end

      # As value_read, for a `fetch` that may be answered with an old value.
      #
      # @return [Array(Object, Boolean), nil] the value, and the argument `early` of {#refresh}; nil: none is due
      def value_kept_read(key, name, options)
        call = native_call(name, key, options)
        entry = kept_entry(call) or return
        early = entry.expired? ? false : ((options[:early_refresh] && level.early?(key)) || nil)
        [entry.value, early]
      end

      # Within an event, stores a value that C cannot.
      def write_value(key, name, value, options)
        call = native_call(name, key, options)
        store_entry(call, ActiveSupport::Cache::Entry.new(value, **options, version: call.version))
      end

      # As write_value, for many.
      def write_values(hash, options)
        entries = hash.to_h do |name, value|
          [normalize_key(name, options),
           ActiveSupport::Cache::Entry.new(value, **options, version: normalize_version(name, options))]
        end
        write_multi_entries(entries, **options) && hash
      end

      # True if there is a live entry.
      def entry_live?(key, name, options)
        version = normalize_version(name, options)
        live?(read_entry(key, **options, version: version), version)
      end

      def native_call(name, key, options)
        Call.new(name, key, options, normalize_version(name, options), namespace_prefix(options))
      end

      def value_or_none(entry, version)
        return FastPath::NONE unless entry
        return FastPath::EXPIRED if entry.expired?

        entry.mismatched?(version) ? FastPath::NONE : entry.value
      rescue ActiveSupport::Cache::DeserializationError
        FastPath::NONE
      end
    end
  end
end
