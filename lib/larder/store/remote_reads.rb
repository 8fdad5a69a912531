# frozen_string_literal: true

# Reads of a store with two levels.

module Larder
  module Store
    # What this machine's file does not have, the remote store is asked for.
    module RemoteReads
      # As Rails'.
      def exist?(name, options = nil)
        super(name, with_version(name, options))
      end

      private

      # The options of a call, with the version of its key.
      def with_version(name, options)
        return options if @remote.nil? || (options && options[:version])

        version = normalize_version(name, merged_options(options))
        version ? { **(options || {}), version: version } : options
      end

      # For Entries. A copy of another version is no hit.
      def read_far(key, options)
        return remote_entry(key, options) if options[:raw]

        copy = file_entry(key)
        copy = nil if copy && (copy.expired? || copy.mismatched?(options[:version]))
        return copy if copy && trusted?

        live(fill(key, options) { copy }, options)
      end

      # Multi's.
      def read_multi_entries(names, **options)
        return super unless @remote
        return read_remote_multi(names, options) if options[:raw]

        found = super
        return found.merge(read_remote_multi(names - found.keys, options)) if trusted?

        read_remote_multi(names, options) { found }
      end

      # What the remote store has of names that the file has not. Called by the fast path, too.
      # Yields if that does not answer.
      def read_remote_multi(names, options)
        keys = names.to_h { |name| [name, normalize_key(name, options)] }
        entries = fill_many(keys.values.uniq, options) { return yield if block_given? }
        names.each_with_object({}) do |name, found|
          entry = live(entries[keys[name]], {})
          add_value(found, name, entry) if entry && !entry.mismatched?(normalize_version(name, options))
        end
      end

      # Rails' fetch stores an entry again that has expired a short while ago.
      def live(entry, options)
        entry unless entry&.expired? && !options[:race_condition_ttl]
      end

      # StaleServing's.
      def stored_entry(key, options)
        copy = super
        return copy if @remote.nil? || (copy && !copy.expired? && trusted?)

        softly(copy, options) { fill(key, options) { copy } }
      end

      # StaleMulti's.
      def kept_entries(names, options)
        found = super
        return found unless @remote

        asked = trusted? ? names.reject { |name| found.key?(name) && !found[name].expired? } : names
        keys = asked.to_h { |name| [name, normalize_key(name, options)] }
        entries = fill_many(keys.values.uniq, options) { return found }
        asked.each do |name|
          entry = usable(entries[keys[name]], name, options, :stale_while_revalidate)
          entry ? found[name] = entry : found.delete(name)
        end
        found
      end

      def remote_entry(key, options)
        asking(:read_entry, nil) { ask && @remote.read(key, options) }
      end

      def asking(method, otherwise)
        yield
      rescue Remote::Waiting
        otherwise&.call
      rescue RemoteError => e
        failed(method, nil, e)
        otherwise&.call
      end

      # May the remote store be asked?
      def ready?
        @backplane&.start(@cache, method(:backplane_failed))
        @remote.ready?
      end

      def backplane_failed(error)
        failed(:backplane, nil, RemoteError.new(error.message))
      end

      # Failsafe's. One report of many failures of the remote store in a row.
      def failed(method, returning, error)
        return super if !error.is_a?(RemoteError) || @raise_errors || @remote.report?

        returning
      end
    end
  end
end
