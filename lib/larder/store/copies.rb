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
        return true unless @backplane

        failsafe(:read_entry, returning: false) { listen && @cache.trusted? }
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
      # @return [Hash{String=>ActiveSupport::Cache::Entry, String}] a String is the value of an entry that is live and
      #   has no version
      def fill_many(keys, options, &block)
        return {} if keys.empty?

        asking(:read_multi_entries, block) do
          leased(keys) do |leases|
            asked = ask
            found = @remote.read_multi(keys)
            strings = keep_strings(found, asked, leases, options)
            next strings if found.empty?

            keep_copies(@remote.entries_of(found), asked, leases, options).update(strings)
          end
        end || {}
      end

      # After the leases were taken: what is listed later has ended them.
      def ask
        listen
        Asked.new(now_ms / 1000.0, stamp)
      end

      # Takes Strings off what was found.
      #
      # @param found [Hash{String=>String}] bytes of Rails' coder
      # @return [Hash{String=>String}] their values
      def keep_strings(found, asked, leases, options)
        return {} unless @remote.bytes? && plain_copies?(options)

        failsafe(:read_entry, returning: {}) do
          @records.keep_strings(found, leases, *terms_of_copies(texts_of({ namespace: options[:namespace] }), asked))
        end
      end

      # @return [Hash{String=>ActiveSupport::Cache::Entry}] those of the entries that no tag has deleted
      def keep_copies(entries, asked, leases, options)
        tags = open_entries(entries)
        with_back_offs(entries, options)
        keep_tagged(entries.except(*tags.keys), nil, asked, leases, options)
        tags.each { |key, texts| keep_tagged({ key => entries[key] }, texts, asked, leases, options) }
        entries
      end

      def keep_tagged(entries, tags, asked, leases, options)
        keep_all(entries, texts_of({ namespace: options[:namespace], tags: tags }), asked, leases, options)
      end

      # Takes leases that have ended, as their copies were stored, off the Hash.
      #
      # @param texts [Texts] tags of the entries
      # @param options [Hash] may say that copies are kept when they are stale, for when that store does not answer
      # @return [void]
      def keep_all(entries, texts, asked, leases, options)
        failsafe(:read_entry) do
          rest = keep_plain(entries, texts, asked, leases, options)
          rest.each { |key, entry| keep_record(key, entry, texts, asked, leases, options) }
        end
      end

      # @return [Hash{String=>ActiveSupport::Cache::Entry}] those that are for a coder
      def keep_plain(entries, texts, asked, leases, options)
        return entries unless plain_copies?(options)

        @records.keep_copies(entries, leases, *terms_of_copies(texts, asked), @plain_trees)
      end

      # Are plain values stored without asking a coder?
      def plain_copies?(options)
        @plain_values && !@options[:compress] && !keeps?(options)
      end

      def terms_of_copies(texts, asked)
        [asked.at + @local_expires_in, now_ms, texts, asked.stamp]
      end

      def keep_record(key, entry, texts, asked, leases, options)
        return unless (lease = leases[key]) && (record = copy_of(entry, asked, texts, options))

        leases.delete(key) if @records.set_leased(key, record, now_ms, lease)
      rescue Larder::InvalidArgument # it is too long for the file
        nil
      end

      # Yields leases of those keys of which there are some to have, by key. Ends those that are left.
      def leased(keys)
        leases = failsafe(:read_entry) { @records.leases(keys, LEASE_MS, now_ms) } || {}
        yield leases
      ensure
        leases&.each { |key, lease| failsafe(:read_entry) { @records.lease_end(key, lease, 0, now_ms) } }
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
