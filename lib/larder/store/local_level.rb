# frozen_string_literal: true

# The entries in the file of this machine.

require "larder/store/clock"
require "larder/store/flights"
require "larder/store/local_counters"
require "larder/store/local_expiry"
require "larder/store/local_swaps"
require "larder/store/record_format"

module Larder
  module Store
    # Answers calls from one file, and applies their changes to it. {TwoLevels} has the same methods for a file with a
    # remote store behind it.
    #
    # Entries are ActiveSupport's. An entry that is found may have expired: the caller decides whether it can be used.
    # @api private
    class LocalLevel
      # How many seconds an old value is served as fresh after its block has raised.
      BACK_OFF = 5

      # An entry with the record in the file that it was made from.
      module Recorded
        # @return [Array] as Records#get answers
        attr_accessor :record
      end
      private_constant :Recorded

      include LocalCounters
      include LocalExpiry
      include LocalSwaps

      # @return [Larder::Cache]
      attr_reader :cache
      # @return [Records]
      attr_reader :records
      # @return [RecordFormat]
      attr_reader :format
      # @return [Failsafe]
      attr_reader :failsafe

      # @param cache [Larder::Cache]
      # @param records [Records]
      # @param format [RecordFormat]
      # @param failsafe [Failsafe]
      def initialize(cache, records, format, failsafe)
        @cache = cache
        @records = records
        @format = format
        @failsafe = failsafe
      end

      # ---- reads ----

      # @return [ActiveSupport::Cache::Entry, nil] also one that has expired and is there for race_condition_ttl
      def read(call)
        call.options[:race_condition_ttl] ? recorded_entry(call.key) : entry(call.key)
      end

      # @return [ActiveSupport::Cache::Entry, nil]
      def entry(key)
        found = @records.get_entry(key, Clock.now_ms) or return
        return @format.entry_of(found) unless found.instance_of?(Array) && found.size > 2

        value, expires_at, version = found
        ActiveSupport::Cache::Entry.new(value, expires_at: expires_at, version: version)
      rescue *Failsafe::ERRORS => e
        @failsafe.failed(:read_entry, nil, e)
      end

      # @return [ActiveSupport::Cache::Entry, nil] whose value can be read, however stale it is
      def kept(call)
        kept_entry(call.key)
      end

      # As {#kept}, and does not count as a read.
      #
      # @return [ActiveSupport::Cache::Entry, nil]
      def kept_copy(key)
        entry = kept_entry(key)
        @records.recount(key, counted_as(entry), Records::UNCOUNTED)
        entry
      end

      # The read of a key that has just found an entry counts as a miss, as that is not the answer.
      #
      # @param kept [ActiveSupport::Cache::Entry, nil] as {#kept} answered it; nil: as {#read} did
      # @return [nil]
      def not_used(key, kept = nil)
        @records.recount(key, kept ? counted_as(kept) : Records::HIT, Records::MISS)
        nil
      end

      # The read of a key counts as a hit, as the entry is the answer after all.
      #
      # @param counted [Integer] as Records#recount takes it
      # @return [ActiveSupport::Cache::Entry] the same
      def used(key, entry, counted = Records::MISS)
        @records.recount(key, counted, counted_as(entry))
        entry
      end

      # @param calls [Array<Call>]
      # @return [Hash{Call=>ActiveSupport::Cache::Entry}] of those that were found
      def read_many(calls)
        found = find_many(calls, :get_entries)
        many(calls, found) { |call, repeated| repeated ? entry(call.key) : @format.entry_of(found[call.key]) }
      end

      # @param calls [Array<Call>]
      # @return [Hash{Call=>ActiveSupport::Cache::Entry}] as {#kept}
      def kept_many(calls)
        found = find_many(calls, :get_kept_entries)
        many(calls, found) { |call, repeated| repeated ? kept_entry(call.key) : loaded(call.key, found[call.key]) }
      end

      # @return [Boolean] true if what the file has may be the answer
      def trusted?
        true
      end

      # @return [Boolean] true if a read may take long
      def slow?
        false
      end

      # @return [Boolean] true if the value of a key is to be computed before it expires; chance decides, see
      #   early_refresh
      def early?(key)
        @failsafe.guard(:read_entry, returning: false) { @records.early?(key, Clock.now_ms) }
      end

      # Which deletions of tags come after this moment. A failure of the cache is that of the write, which reports it.
      #
      # @return [String]
      def stamp(_call = nil)
        @cache.stamp || Flight::NEVER
      rescue *Failsafe::ERRORS
        Flight::NEVER
      end

      # ---- changes ----

      # @param call [Call]
      # @param entry [ActiveSupport::Cache::Entry]
      # @param flight [Flight, nil] under whose lease it is stored
      # @return [Boolean, nil] true: stored; false: it can never be stored, or its flight is over; nil: the cache could
      #   not serve
      def write(call, entry, flight)
        record = with_tags(@format.record_of(entry, call.options, flight&.compute_ms), call)
        @failsafe.guard_write(:write_entry) do
          call.options[:unless_exist] ? add(call.key, record) : store(call.key, record, flight, call)
        end
      end

      # @param entries [Hash{String=>ActiveSupport::Cache::Entry}] by key
      # @param call [Call] without a key
      # @return [true, nil] nil: at least one was not stored
      def write_many(entries, call)
        return write_each(entries, call) if call.options[:unless_exist] || call.tagged? || call.keeps?

        store_records(entries.transform_values { |entry| @format.record_of(entry, call.options) }, Clock.now_ms)
      end

      # @param records [Hash{String=>Array}] by key
      # @param time [Integer] Unix time in milliseconds
      # @return [true, nil]
      def store_records(records, time)
        @failsafe.guard_write(:write_multi_entries) do
          refused = @records.set_multi(records, time)
          refused.empty? || raise(refusal(refused))
        end
      end

      # @param record [Array] as Records#set takes it
      # @param flight [Flight, nil]
      # @return [Boolean] was it stored?
      # @raise [Larder::Error]
      def store(key, record, flight = nil, call = nil, time = Clock.now_ms)
        return store_in_flight(key, record, flight, call) if flight&.leased?

        stored = @records.set(key, record, time)
        raise refusal(key) unless stored || cleared_since?(record)

        stored
      end

      # An entry that has expired lives on for `seconds`. Compare and swap keeps its tags, and does not overwrite
      # what was deleted or written since it was read.
      #
      # @param entry [ActiveSupport::Cache::Entry] that {#read} answered for a call with race_condition_ttl
      # @return [void]
      def store_again(call, entry, seconds)
        return unless entry.is_a?(Recorded)

        again = ActiveSupport::Cache::Entry.new(entry.value, version: entry.version, expires_at: Clock.now + seconds)
        again = @format.record_of(again, { **call.options, expires_in: seconds * 2 })
        @failsafe.guard_write(:write_entry) { @records.cas(call.key, entry.record, again, Clock.now_ms) }
      end

      # @return [Boolean] was it there?
      def delete(key)
        @failsafe.guard(:delete_entry, returning: false) { @cache.delete(key, now: Clock.now) }
      end

      # @return [Integer] how many were there
      def delete_many(keys)
        @failsafe.guard(:delete_multi_entries, returning: 0) { @cache.delete_multi(keys, now: Clock.now) }
      end

      # Removes entries that were found to have expired.
      # @return [void]
      def drop_expired(keys)
        delete_many(keys)
      end

      # @param names [Array<String>] tags of the caller
      # @return [true, nil]
      def delete_tagged(names)
        @failsafe.guard(:delete_tagged) { @cache.delete_tagged(*names.map { |name| TagTexts.own(name) }) }
      end

      # @param prefix [String] of the namespace; empty: everything is removed
      # @return [true, nil]
      def clear(prefix, _options = nil)
        @failsafe.guard(:clear) do
          prefix.empty? ? @cache.clear : @cache.delete_tagged(prefix)
          true
        end
      end

      # @param matcher [KeyMatcher]
      # @return [Integer, nil]
      def delete_matched(matcher)
        @failsafe.guard(:delete_matched) do
          time = Clock.now
          @cache.each_key(prefix: matcher.prefix.b, now: time, all: true).count do |key|
            matcher.match?(key) && @cache.delete(key, now: time)
          end
        rescue Larder::Error
          @cache.clear # it is unknown which matching keys are left: all are dropped, now or when the file can be opened
          raise
        end
      end

      # ---- leases ----

      # Takes the lease of a key, if no other caller has it. No interrupt comes before the block has noted the lease,
      # so that it is not forgotten and held until its time is over.
      #
      # @param over [String, nil] the lease that PRESENT answered, if its value cannot be used
      # @yieldparam lease [String] that was taken
      # @return [Array, nil] as Records#lease, with the block's value in place of a lease that was taken
      def take_lease(call, over = nil)
        milliseconds = (Flights.seconds(call.key, call.lease) * 1000).ceil
        @failsafe.guard(:fetch) do
          Thread.handle_interrupt(Interrupts::DEFERRED) do
            status, lease = @records.lease(call.key, milliseconds, over, Clock.now_ms)
            lease = yield lease if status == Records::TAKEN
            [status, lease] if status
          end
        end
      end

      # @param milliseconds [Integer] to wait at most
      # @param otherwise [Boolean] the answer if the cache cannot serve
      # @return [Boolean] has the lease ended?
      def lease_over?(key, lease, milliseconds, otherwise)
        @failsafe.guard(:fetch, returning: otherwise) { @records.lease_wait(key, lease, milliseconds, Clock.now_ms) }
      end

      # @param fresh [Integer] seconds that the old value counts as fresh from now on
      # @return [void]
      def end_lease(key, lease, fresh = 0)
        @records.lease_end(key, lease, fresh * 1000, Clock.now_ms)
      end

      # @return [ActiveSupport::Cache::Entry, nil] which another caller has stored while this one waited
      def landed(call)
        entry(call.key)
      end

      # Yields to compute a value: true, if it is stored. Other machines do not see it.
      def across(_call, _flight, _deadline)
        yield true
      end

      # ---- errors of blocks ----

      # After an error of a block and before its lease ends.
      #
      # @param _began [Float] Unix time before the block
      # @return [Integer] seconds that the file's old value counts as fresh from now on
      def after_error(_call, _began)
        BACK_OFF
      end

      # From now on the old value counts as fresh for a while, unless it has expired after the block began: then it may
      # have been stored after that, and no block has raised for it.
      #
      # @param began [Float] Unix time
      # @param entry [ActiveSupport::Cache::Entry, nil] the old value
      # @return [void]
      def back_off(call, began, entry = kept(call))
        keep_old(call, entry) if entry&.expired? && entry.expires_at <= began
      end

      # True if the block of an old value has raised a short while ago and must not run. Here the old value counts as
      # fresh then.
      def backs_off?(_call, _entry)
        false
      end

      # ---- whole file ----

      # @return [Hash{Symbol=>Object}]
      def stats
        @failsafe.guard(:stats, returning: {}) { @cache.stats }
      end

      # @param record [Array]
      # @return [Array] the same, with tags if the call has any
      def with_tags(record, call)
        return record unless call.tagged?

        texts = call.texts
        texts.empty? ? record : @records.tagged(record, texts, stamp_of_write(call))
      end

      # Only a write with tags follows a read of its key.
      #
      # @return [String, nil] the stamp of the moment in which the value began to be computed; nil: now
      def stamp_of_write(call)
        Flights.begun&.stamp_of(@records, call.key, follows_read: call.options[:tags] ? true : false)
      end

      private

      def kept_entry(key)
        loaded(key, @failsafe.guard(:read_entry) { @records.get_kept_entry(key, Clock.now_ms) })
      end

      # @param found [Array, String, nil] as Records#get_kept_entry answers
      # @return [ActiveSupport::Cache::Entry, nil]
      def loaded(key, found)
        entry = @format.kept_entry_of(found)
        not_used(key) if found && !entry
        entry
      end

      # @param kept [ActiveSupport::Cache::Entry, nil]
      # @return [Integer] how its read was counted
      def counted_as(kept)
        return Records::MISS unless kept

        kept.expired? ? Records::STALE : Records::HIT
      end

      # An entry that has expired knows its record, so that it can be stored again.
      def recorded_entry(key)
        record = @failsafe.guard(:read_entry) { @records.get(key, Clock.now_ms) }
        entry = @format.entry_of(@records.entry_of(record)) if record
        entry.extend(Recorded).record = record if entry&.expired?
        entry
      end

      def find_many(calls, method)
        keys = calls.map(&:key)
        @failsafe.guard(:read_multi_entries, returning: {}) { @records.public_send(method, keys, Clock.now_ms) }
      end

      # Two names of one key get values of their own.
      def many(calls, found)
        return {} if found.empty?

        repeated = calls.map(&:key).uniq.size < calls.size
        calls.each_with_object({}) do |call, entries|
          next unless found.key?(call.key)

          entry = yield call, repeated
          entries[call] = entry if entry
        end
      end

      def write_each(entries, call)
        entries.map { |key, entry| write(call.of(key), entry, Flights.begun&.for_write(@records, key)) }.all? || nil
      end

      # The engine's `add` fails while an expired entry is kept for race_condition_ttl. Such an entry is replaced by
      # compare and swap, so that one of several callers succeeds.
      def add(key, record)
        time = Clock.now_ms
        return true if @records.add(key, record, time)

        present = @records.get(key, time)
        return false unless present && @format.entry_of(@records.entry_of(present))&.expired?

        bytes, flags, ttl_ms, *more = record
        ttl_ms = Larder::Options::SHORTEST_MS if ttl_ms.negative? # also one that has expired already
        @records.cas(key, present, [bytes, flags, ttl_ms, *more], time)
      end

      # A change of the key while the value was computed has ended the lease, and stays.
      def store_in_flight(key, record, flight, call)
        flights, token = Flights.current, flight.token
        stored = token ? @records.set_leased(key, record, Clock.now_ms, token) : false
        flights.drop(flight)
        Flights.note_overrun(flight, call.lease) unless stored || token.nil?
        stored
      ensure
        flights&.give_up(flight) # nothing more if it was dropped
      end

      def keep_old(call, _entry)
        take_lease(call) { |lease| end_lease(call.key, lease, BACK_OFF) }
      end

      # Was the cache cleared while the value of a record was computed? Then it is not stored.
      def cleared_since?(record)
        stamp = record[6]
        stamp && @cache.stamp&.byteslice(8, 8) != stamp.byteslice(8, 8)
      end

      def refusal(key)
        Larder::Error.new("the cache refused to store #{key.inspect}: lock timeout, or cache full; whatever the key " \
                          "held is dropped")
      end
    end
  end
end
