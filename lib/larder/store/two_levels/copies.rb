# frozen_string_literal: true

# The copies in the file of entries of the remote store.

require "larder/store/two_levels/compute_times"
require "larder/store/tag_texts"

module Larder
  module Store
    class TwoLevels
      # Each is used for `local_expires_in` at most from when the remote store was asked.
      #
      # A copy must not be older than what this machine has deleted or written since. So a lease of the key in the file
      # is taken before the remote store is read or written, and the copy is stored under it: a delete or write of the
      # key in between ends the lease.
      # @api private
      class Copies
        # Seconds that a copy is used, and the same where other machines publish their changes.
        LOCAL_EXPIRES_IN = 5
        LONGER = 60
        # The most milliseconds of a call of the remote store after which a copy is stored.
        LEASE_MS = 10_000
        # When the remote store was asked, in Unix seconds, and the stamp of before.
        Asked = Struct.new(:at, :stamp)
        NO_TEXTS = TagTexts.new.freeze
        private_constant :LEASE_MS, :NO_TEXTS

        # @param levels [TwoLevels]
        # @param expires_in [Float] seconds
        def initialize(levels, expires_in)
          @local = levels.local
          @records = @local.records
          @format = @local.format
          @plain = @format.plain?({})
          @failsafe = @local.failsafe
          @remote = levels.remote
          @machines = levels.machines
          @tags = levels.tags
          @back_offs = levels.back_offs
          @times = levels.times
          @expires_in = expires_in
        end

        # The remote store is asked from now on, and other machines are listened to.
        # @return [Asked]
        def asked
          @machines.listen
          Asked.new(Clock.now_ms / 1000.0, @local.stamp)
        end

        # Reads the remote store, and stores copies in the file. The leases are taken before: what is listed later has
        # ended them.
        #
        # @param keys [Array<String>]
        # @param call [Call]
        # @return [Hash{String=>ActiveSupport::Cache::Entry, String}] by key, also entries that have expired. A String
        #   is the value of an entry that is live and has no version
        # @raise [RemoteError]
        def fill(keys, call)
          leased(keys) do |leases|
            asked = self.asked
            found = @remote.read_multi(keys)
            strings = keep_strings(found, asked, leases, call)
            next strings if found.empty?

            keep_opened(@remote.entries_of(found), asked, leases, call).update(strings)
          end
        end

        # As {#fill}, for one key.
        #
        # @return [ActiveSupport::Cache::Entry, nil]
        def fill_one(key, call)
          leased([key]) do |leases|
            asked = self.asked
            entry = @remote.read(key) or next
            keep_opened({ key => entry }, asked, leases, call)[key]
          end
        end

        # Stores copies of entries that were just written.
        #
        # @param entries [Hash{String=>ActiveSupport::Cache::Entry}]
        # @param leases [Hash{String=>String}]
        # @return [Array<String>] keys of which there are copies now
        def keep(entries, asked, leases, call)
          keys = leases.keys
          texts = call.options[:tags] || !call.prefix.empty? ? call.texts : NO_TEXTS
          keep_all(entries, texts, asked, leases, call)
          keys - leases.keys
        end

        # Ends the lease of this machine under which a value was computed, or found in the remote store. The file gets a
        # copy, unless it is raw or too long for the file: then the copy of an earlier value is dropped.
        #
        # @param texts [TagTexts] of the entry
        # @param flight [Flight] with the lease
        # @return [Boolean, nil] true: there is a copy; nil: there is none; false: a change of the key had ended it
        def keep_in_flight(key, entry, asked, texts, call, flight)
          record = record_of(key, entry, asked, texts, call) unless call.options[:raw]
          return @local.store(key, record, flight, call) if record

          held = Flights.current.give_up(flight)
          held ? drop([key]) : Flights.note_overrun(flight, call.lease)
          held ? nil : false
        rescue Larder::InvalidArgument # it is too long for the file, which drops what the key has, and its lease
          nil
        rescue *Failsafe::ERRORS => e
          @failsafe.failed(:write_entry, nil, e)
        end

        # The last copy of an entry, which ends with it, has the time that the value took to compute.
        #
        # @param texts [TagTexts] of the entry
        # @return [Array, nil] the record of a copy; nil: it would have expired, or its value cannot be read
        def record_of(key, entry, asked, texts, call)
          expires_at = end_of_copy(entry, asked)
          left = expires_at - Clock.now
          return unless left.positive?

          copy = ActiveSupport::Cache::Entry.new(entry.value, version: entry.version, expires_at: expires_at)
          compute_ms = @times.of(key, entry) if call.options[:early_refresh] && expires_at == entry.expires_at
          kept = call.options.slice(*Call::WINDOWS, :early_refresh)
          record = @format.record_of(copy, { **kept, expires_in: left }, compute_ms)
          texts.empty? ? record : @records.tagged(record, texts, asked.stamp)
        rescue ActiveSupport::Cache::DeserializationError
          nil
        end

        # Yields leases of those keys of which there are some to have, by key. Ends those that are left.
        #
        # @param keys [Array<String>]
        # @yieldparam leases [Hash{String=>String}]
        def leased(keys)
          leases = begin
            @records.leases(keys, LEASE_MS, Clock.now_ms)
          rescue *Failsafe::ERRORS => e
            @failsafe.failed(:read_entry, {}, e)
          end
          yield leases
        ensure
          end_leases(leases) if leases&.any?
        end

        # @param keys [Array<String>]
        # @return [void]
        def drop(keys)
          @failsafe.guard(:delete_multi_entries) { @local.cache.delete_multi(keys, now: Clock.now) }
        end

        private

        # Takes Strings off the Hash.
        #
        # @param found [Hash{String=>String}] bytes of Rails' coder
        # @return [Hash{String=>String}] their values
        def keep_strings(found, asked, leases, call)
          return {} unless @plain && !call.keeps && @remote.bytes?

          @failsafe.guard(:read_entry, returning: {}) do
            ends = asked.at + @expires_in
            @records.keep_strings(found, leases, ends, Clock.now_ms, call.namespace_texts, asked.stamp)
          end
        end

        # @return [Hash{String=>ActiveSupport::Cache::Entry}] those of the entries that no tag has deleted
        def keep_opened(entries, asked, leases, call)
          tags = @tags.open(entries)
          @back_offs.apply(entries, call)
          keep_all(entries.except(*tags.keys), call.namespace_texts, asked, leases, call)
          tags.each do |key, names|
            keep_all({ key => entries[key] }, TagTexts.of(names, call.prefix), asked, leases, call)
          end
          entries
        end

        # Takes leases that have ended, as their copies were stored, off the Hash. C stores plain entries, and answers
        # those that are for a coder.
        def keep_all(entries, texts, asked, leases, call)
          if @plain && !call.keeps
            entries = @records.keep_copies(entries, leases, asked.at + @expires_in, Clock.now_ms, texts, asked.stamp,
                                           @format.plain_trees)
          end
          entries.each { |key, entry| keep_record(key, entry, texts, asked, leases, call) }
        rescue *Failsafe::ERRORS => e
          @failsafe.failed(:read_entry, nil, e)
        end

        def end_leases(leases)
          Thread.handle_interrupt(Interrupts::DEFERRED) do
            leases.each { |key, lease| @records.lease_end(key, lease, 0, Clock.now_ms) }
          end
        rescue *Failsafe::ERRORS => e
          @failsafe.failed(:read_entry, nil, e)
        end

        def keep_record(key, entry, texts, asked, leases, call)
          return unless (lease = leases[key]) && (record = record_of(key, entry, asked, texts, call))

          leases.delete(key) if @records.set_leased(key, record, Clock.now_ms, lease)
        rescue Larder::InvalidArgument # it is too long for the file
          nil
        end

        # @return [Float] Unix seconds
        def end_of_copy(entry, asked)
          latest = asked.at + @expires_in
          at = entry.expires_at
          at && at < latest ? at : latest
        end
      end
    end
  end
end
