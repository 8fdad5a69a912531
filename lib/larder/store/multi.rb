# frozen_string_literal: true

# Owns the multi forms: one pass through the engine for all keys of a call.

module Larder
  module Store
    # What read_multi, fetch_multi, write_multi and delete_multi come down to.
    module Multi
      private

      def read_multi_entries(names, **options)
        keys = names.map { |name| normalize_key(name, options) }
        payloads = failsafe(:read_multi_entries, returning: {}) { @cache.get_multi(keys, now: now) }
        return {} if payloads.empty?

        expired = []
        results = names.zip(keys).each_with_object({}) do |(name, key), found|
          entry = deserialize_entry(payloads[key], raw: options[:raw])
          next unless entry

          if entry.expired?
            expired << key
          elsif !entry.mismatched?(normalize_version(name, options))
            add_value(found, name, entry)
          end
        end
        delete_multi_entries(expired, **options) if expired.any?
        results
      end

      def add_value(found, name, entry)
        found[name] = entry.value
      rescue ActiveSupport::Cache::DeserializationError
        # The value's class is gone: a miss.
      end

      # @return [Hash, nil] what was given; nil where something of it could not be stored
      def write_multi_entries(entries, **options)
        return super if options[:unless_exist]

        payloads = entries.transform_values { |entry| checked_payload(serialize_entry(entry, **options)) }
        ttl = engine_ttl(options[:expires_in], options[:race_condition_ttl], options[:raw])

        store_safely(:write_multi_entries) do
          refused = @cache.set_multi(payloads, ttl: ttl, now: now)
          refused.empty? ? entries : raise(refusal(refused))
        end
      end

      def delete_multi_entries(keys, **)
        failsafe(:delete_multi_entries, returning: 0) { @cache.delete_multi(keys, now: now) }
      end
    end
  end
end
