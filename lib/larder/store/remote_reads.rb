# frozen_string_literal: true

# Reads of a store with two levels.

module Larder
  module Store
    # What this machine's file does not have, the remote store is asked for.
    module RemoteReads
      # As Rails'.
      #
      # @overload exist?(name, options = nil)
      ruby2_keywords def exist?(name, *given)
        given = with_version(name, given) if @remote
        super
      end

      private

      # The arguments of a call behind the name, with the version of its key.
      def with_version(name, given)
        options = given.first
        return given if options && options[:version]

        version = normalize_version(name, merged_options(options))
        version ? instead_of(given, { **(options || {}), version: version }) : given
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
        return read_remote_multi(keys_of(names, options), options) if options[:raw]

        found = super
        return found.merge(read_remote_multi(keys_of(names - found.keys, options), options)) if trusted?

        read_remote_multi(keys_of(names, options), options) { found }
      end

      # What the remote store has of names that the file has not. Called by the fast path, too.
      # Yields if that does not answer.
      #
      # @param keys [Hash{Object=>String}] by name
      def read_remote_multi(keys, options)
        entries = far_entries(keys.values.uniq, options) { return yield if block_given? }
        found = {}
        keys.each do |name, key|
          entry = entries[key]
          next found[name] = entry if entry.instance_of?(String)
          next unless (entry = live(entry, {}))

          version = normalize_version(name, options)
          add_value(found, name, entry) unless version && entry.mismatched?(version)
        end
        found
      end

      # What is raw has no copy.
      def far_entries(keys, options, &block)
        return fill_many(keys, options, &block) unless options[:raw]

        asking(:read_multi_entries, block) do
          ask && @remote.entries_of(@remote.read_multi(keys, raw: true), raw: true)
        end || {}
      end

      # @return [Hash{Object=>String}] keys by name
      def keys_of(names, options)
        names.to_h { |name| [name, normalize_key(name, options)] }
      end

      # Rails' fetch stores an entry again that has expired a short while ago.
      def live(entry, options)
        entry unless entry&.expired? && !options[:race_condition_ttl]
      end

      # StaleServing's.
      def stored_entry(key, options)
        copy = super
        return copy if @remote.nil? || (copy && !copy.expired? && trusted?)

        softly(copy, options) { fill(key, options) { copies_without_remote([key], options)[key] } }
      end

      # StaleMulti's.
      def kept_entries(names, options)
        found = super
        return found unless @remote

        asked = trusted? ? names.reject { |name| found.key?(name) && !found[name].expired? } : names
        keys = keys_of(asked, options)
        wanted = keys.values.uniq
        entries = fill_many(wanted, options) { copies_without_remote(wanted, options) }
        asked.each do |name|
          entry = usable(entries[keys[name]], name, options, :stale_while_revalidate)
          entry ? found[name] = entry : found.delete(name)
        end
        found
      end

      # Copies that may be the answer while the remote store does not answer.
      #
      # @return [Hash{String=>ActiveSupport::Cache::Entry}]
      def copies_without_remote(keys, options)
        with_back_offs(keys.to_h { |key| [key, kept_copy(key)] }.compact, options, far: false)
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
        listen
        @remote.ready?
      end

      # From its first use on, a process sees to it that somebody listens to the backplane.
      #
      # @return [Boolean] does it?
      def listen
        return true unless @backplane

        listens = @backplane.listening? || listen_from_now_on
        FastPath.listens(self, listens)
        listens
      end

      def listen_from_now_on
        @backplane.start(@cache, ended: -> { FastPath.listens(self, false) }) { |error| failed(:backplane, nil, error) }
      end
    end
  end
end
