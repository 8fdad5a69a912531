# frozen_string_literal: true

# The multi forms: one call of the engine for all keys.

module Larder
  module Store
    # The methods under read_multi, fetch_multi, write_multi and delete_multi.
    module Multi
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

      private

      def read_multi_entries(names, **options)
        return super if overridden?(:read_entry)

        keys = names.map { |name| normalize_key(name, options) }
        entries = failsafe(:read_multi_entries, returning: {}) { @records.get_entries(keys, now_ms) }
        return {} if entries.empty?

        again = keys.uniq.size < keys.size # two names of one key get values of their own
        expired = []
        results = names.zip(keys).each_with_object({}) do |(name, key), found|
          entry = again ? read_entry(key) : entry_of(entries[key])
          next unless entry

          if entry.expired?
            expired << key
          elsif !entry.mismatched?(normalize_version(name, options))
            add_value(found, name, entry)
          end
        end
        delete_expired(expired, **options) if expired.any?
        results
      end

      # Is the method of one entry another one than ours? Then it is called for each, as Rails' stores do.
      def overridden?(name)
        ![Entries, RemoteChanges].include?(method(name).owner)
      end

      def delete_expired(keys, **options)
        delete_multi_entries(keys, **options)
      end

      def add_value(found, name, entry)
        found[name] = entry.value
      rescue ActiveSupport::Cache::DeserializationError
        # The value's class is gone: a miss.
      end

      # @return [Hash, nil] the given Hash; nil: not all of it could be stored
      def write_multi_entries(entries, **options)
        return super if options[:unless_exist] || tagged?(options) || overridden?(:write_entry)

        store_records(entries.transform_values { |entry| record_of(entry, options) }, now_ms) && entries
      end

      # Called by the fast path, too.
      def store_records(records, time)
        store_safely(:write_multi_entries) do
          refused = @records.set_multi(records, time)
          refused.empty? || raise(refusal(refused))
        end
      end

      def delete_multi_entries(keys, **)
        return super if overridden?(:delete_entry)

        failsafe(:delete_multi_entries, returning: 0) { @cache.delete_multi(keys, now: now) }
      end
    end
  end
end
