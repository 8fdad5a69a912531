# frozen_string_literal: true

# The copies in the file of entries of the remote store.

module Larder
  module Store
    # Each is used for `local_expires_in` at most from when the remote store was asked.
    #
    # A copy must not be older than what this machine has deleted or written since. So a lease of the key in the file is
    # taken before the remote store is read or written, and the copy is stored under it: who deletes or writes the key
    # in between ends the lease.
    module Copies
      # Seconds for which a copy is used, and where other machines tell of changes.
      LOCAL_EXPIRES_IN = 5
      LONGER = 60
      # After so many ms of a call of the remote store no copy is stored.
      LEASE_MS = 10_000
      # When the remote store was asked, and the stamp of before.
      Asked = Struct.new(:at, :stamp)
      private_constant :LEASE_MS

      private

      # May copies be used?
      def trusted?
        @backplane.nil? || failsafe(:read_entry, returning: false) { @cache.trusted? }
      end

      # Reads the remote store, and stores a copy in the file. Yields if that store does not answer.
      #
      # @return [ActiveSupport::Cache::Entry, nil] also one that has expired
      def fill(key, options, &block)
        asking(:read_entry, block) do
          leased([key]) do |leases|
            asked = ask
            entry = @remote.read(key)
            keep_copies(entry ? { key => entry } : {}, asked, leases, options)[key]
          end
        end
      end

      # The same for many.
      #
      # @return [Hash{String=>ActiveSupport::Cache::Entry}]
      def fill_many(keys, options, &block)
        return {} if keys.empty?

        asking(:read_multi_entries, block) do
          leased(keys) do |leases|
            asked = ask
            keep_copies(@remote.read_multi(keys, options), asked, leases, options)
          end
        end || {}
      end

      # After the leases were taken: what is listed later has ended them.
      def ask
        raise Remote::Waiting unless ready?

        Asked.new(now, stamp)
      end

      # @return [Hash{String=>ActiveSupport::Cache::Entry}] those of the entries that no tag has deleted
      def keep_copies(entries, asked, leases, options)
        tags = open_entries(entries)
        namespace = options[:namespace]
        untagged = texts_of({ namespace: namespace })
        entries.each do |key, entry|
          next unless (lease = leases[key])

          texts = tags.key?(key) ? texts_of({ namespace: namespace, tags: tags[key] }) : untagged
          leases.delete(key) if keep_copy(key, entry, asked, lease, texts, options)
        end
      end

      # Yields leases of those keys of which there are some to have, by key. Ends those that are left.
      def leased(keys)
        leases = failsafe(:read_entry) { @records.leases(keys, LEASE_MS, now_ms) } || {}
        yield leases
      ensure
        leases&.each { |key, lease| failsafe(:read_entry) { @records.lease_end(key, lease, 0, now_ms) } }
      end

      # @param texts [Texts] tags of the entry
      # @param options [Hash] may say that the copy is kept when it is stale, for when the remote store does not answer
      # @return [Boolean] was a copy stored? Then the lease has ended
      def keep_copy(key, entry, asked, lease, texts, options)
        failsafe(:read_entry) do
          stored = set_plain_copy(key, entry, asked, lease) if texts.empty? && !keeps?(options)
          next stored unless stored.nil?

          record = copy_of(entry, asked, texts, options)
          record ? @records.set_leased(key, record, now_ms, lease) : false
        rescue Larder::InvalidArgument # it is too long for the file
          false
        end
      end

      # @return [Boolean, nil] nil: the entry is for a coder
      def set_plain_copy(key, entry, asked, lease)
        return if !@plain_values || @options[:compress]

        time = now
        expires_at = end_of_copy(entry, asked)
        return false unless expires_at > time

        @records.set_plain_leased(key, entry.value, expires_at, entry.version, Larder::Options.unix_ms(time),
                                  @plain_trees, lease)
      end

      # The record of a copy; nil: it would have expired.
      def copy_of(entry, asked, texts, options)
        expires_at = end_of_copy(entry, asked)
        left = expires_at - now
        return unless left.positive?

        copy = ActiveSupport::Cache::Entry.new(entry.value, version: entry.version, expires_at: expires_at)
        record = record_of(copy, { **options.slice(*StaleServing::WINDOWS), expires_in: left })
        texts.empty? ? record : @records.tagged(record, texts, asked.stamp)
      rescue ActiveSupport::Cache::DeserializationError
        nil
      end

      # @return [Float] Unix seconds
      def end_of_copy(entry, asked)
        latest = asked.at + @local_expires_in
        at = entry.expires_at
        at && at < latest ? at : latest
      end

      def drop_copies(keys)
        failsafe(:delete_multi_entries) { @cache.delete_multi(keys, now: now) }
      end
    end
  end
end
