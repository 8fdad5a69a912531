# frozen_string_literal: true

# Serves values that have expired in the multi forms.

module Larder
  module Store
    # What StaleServing does, for many keys: fresh and stale entries are found by one call of the engine.
    module StaleMulti
      # As Rails'. With `stale_while_revalidate:` among the options of the call, also what has expired is found. Nothing
      # has it computed again, as there is no block.
      #
      # @overload read_multi(*names)
      ruby2_keywords def read_multi(*names)
        given = names.last
        return super unless given.is_a?(Hash) && given.key?(:stale_while_revalidate) && keeps?(given)

        names, options = names[0...-1], merged_options(given)
        instrument_multi(:read_multi, instrumented_keys(names, options), options) do |payload|
          entries = kept_entries(names, options)
          entries.each do |name, entry|
            announce_stale(normalize_key(name, options), options, :stale_while_revalidate) if entry.expired?
          end
          payload[:hits] = instrumented_keys(entries.keys, options)
          entries.transform_values(&:value)
        end
      end

      private

      # SingleFlight's. Has computed again what is due.
      def find_many(names, options, block)
        return super unless keeps?(options)
        return {} if options[:force]

        one = ->(name, _options) { block.call(name) }
        kept_entries(names, options).to_h do |name, entry|
          refresh_due(entry, name, normalize_key(name, options), options, one)
          [name, entry.value]
        end
      end

      # SingleFlight's.
      def fetch_missing(names, options, block)
        return super if flies?(options)

        names.uniq.to_h do |name|
          [name, or_old(name, normalize_key(name, options), options, block) do |watched|
            compute_one(name, options, watched)
          end]
        end
      end

      # @return [Hash] entries that can be served, by name
      def kept_entries(names, options)
        keys = names.map { |name| normalize_key(name, options) }
        found = failsafe(:read_multi_entries, returning: {}) { @records.get_kept_entries(keys, now_ms) }
        again = keys.uniq.size < keys.size # two names of one key get values of their own
        names.zip(keys).each_with_object({}) do |(name, key), entries|
          entry = again ? stored_entry(key, options) : loadable(found[key])
          entry = usable(entry, name, options, :stale_while_revalidate)
          entries[name] = entry if entry
        end
      end
    end
  end
end
