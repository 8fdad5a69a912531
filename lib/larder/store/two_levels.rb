# frozen_string_literal: true

# The file of this machine, with a remote store behind it.

require "larder/store/back_offs"
require "larder/store/copies"
require "larder/store/machines"
require "larder/store/remote_lease"
require "larder/store/remote_swaps"
require "larder/store/tag_versions"

module Larder
  module Store
    # Has the methods of {LocalLevel}. The file answers for as long as a copy is used; for all else the remote store is
    # asked. Changes are applied to the remote store first, then to the file, and then published.
    # @api private
    class TwoLevels
      # Seconds for which Rails' stores keep an entry for race_condition_ttl after it has expired.
      RACE = 300
      # Options of entries of which the file has no copy.
      WITHOUT_COPY = %i[raw unless_exist].freeze
      # Options of raw entries that are not to be lost if the remote store does not take a new value: it keeps the old
      # one. `kept:` is of sessions, and no option of applications.
      KEEPING = %i[unless_exist kept].freeze
      private_constant :RACE, :WITHOUT_COPY, :KEEPING

      include RemoteSwaps

      # @return [LocalLevel]
      attr_reader :local
      # @return [Records] as of LocalLevel
      attr_reader :records
      # @return [Failsafe] as of LocalLevel
      attr_reader :failsafe
      # @return [Remote]
      attr_reader :remote
      # @return [Copies]
      attr_reader :copies
      # @return [TagVersions]
      attr_reader :tags
      # @return [BackOffs]
      attr_reader :back_offs

      # @param local [LocalLevel]
      # @param remote [Remote]
      # @param machines [Machines]
      # @param expires_in [Float] seconds that a copy is used
      # @yieldparam key [String] of the store itself
      # @yieldreturn [String] the same, not longer than a key may be
      def initialize(local, remote, machines, expires_in, &shorten)
        @local = local
        @records = local.records
        @failsafe = local.failsafe
        @remote = remote
        @machines = machines
        @tags = TagVersions.new(remote)
        @back_offs = BackOffs.new(local, remote, &shorten)
        @copies = Copies.new(local, remote, @tags, @back_offs, expires_in)
      end

      # ---- reads ----

      # As of LocalLevel. A copy of another version is not an answer.
      def read(call)
        return remote_entry(call) if call[:raw]

        copy = @local.entry(call.key)
        copy = nil if copy && (copy.expired? || copy.mismatched?(call.version))
        return copy if copy && trusted?

        live(fill(call) { copy }, call)
      end

      # As of LocalLevel.
      def kept(call)
        copy = @local.kept(call)
        return copy if copy && !copy.expired? && trusted?

        softly(copy, call) { fill(call) { kept_without_remote([call])[call.key] } }
      end

      # The file's entry, however stale.
      def kept_copy(key)
        @local.kept_copy(key)
      end

      # As of LocalLevel. A String is the value of an entry without a version.
      def read_many(calls)
        return remote_many(calls) if calls.first[:raw]

        found = @local.read_many(calls)
        found.select! { |call, entry| !entry.expired? && !entry.mismatched?(call.version) }
        return found.merge(remote_many(calls - found.keys)) if trusted?

        remote_many(calls) { found }
      end

      # Entries of the remote store that the file does not have.
      #
      # @param calls [Array<Call>]
      # @yield if that store does not answer
      # @return [Hash{Call=>ActiveSupport::Cache::Entry, String}]
      def remote_many(calls)
        return {} if calls.empty?

        entries = remote_entries(calls) { return block_given? ? yield : {} }
        calls.each_with_object({}) do |call, found|
          entry = entries[call.key]
          next found[call] = entry if entry.instance_of?(String)

          found[call] = entry if entry && !entry.expired? && !entry.mismatched?(call.version)
        end
      end

      # As of LocalLevel.
      def kept_many(calls)
        found = @local.kept_many(calls)
        asked = trusted? ? calls.reject { |call| fresh?(found[call], call) } : calls
        return found if asked.empty?

        entries = fill_many(asked) { kept_without_remote(asked) }
        asked.each do |call|
          entry = entries[call.key]
          entry ? found[call] = entry : found.delete(call)
        end
        found
      end

      # As of LocalLevel.
      def trusted?
        @machines.trusted?
      end

      # As of LocalLevel.
      def slow?
        true
      end

      # As of LocalLevel.
      def early?(key)
        @local.early?(key)
      end

      # As of LocalLevel, with the versions that the tags of the call have.
      def stamp(call = nil)
        return @local.stamp unless call && call[:tags]

        names = call.texts.names
        versions = @failsafe.guard(:read_multi_entries) { @tags.current(names) if @remote.ready? }
        TagVersions::Stamp.new(@local.stamp, versions)
      end

      # ---- changes ----

      # As of LocalLevel.
      def write(call, entry, flight)
        refuse_tags(call) if call[:raw]
        @failsafe.guard_write(:write_entry) do
          asked = asked_for(call)
          far = @tags.marked(entry, call, asked.stamp)
          if WITHOUT_COPY.any? { |option| call[option] }
            write_remotely(call, far)
          elsif flight&.leased?
            write_in_flight(flight, call, entry, far, asked)
          else
            write_together({ call.key => entry }, call, asked) { |kept| @remote.write(call.key, far, kept) }
          end
        end
      end

      # As of LocalLevel.
      def write_many(entries, call)
        return true if entries.empty?
        return write_each(entries, call) if call.leases? || call[:tags] ||
                                            WITHOUT_COPY.any? { |option| call[option] }

        @failsafe.guard_write(:write_multi_entries) do
          asked = asked_for(call.of(entries.each_key.first))
          write_together(entries, call, asked) { |kept| @remote.write_multi(entries, kept) }
        end
      end

      # C stores plain entries so, which a file alone has.
      def store_records(records, time)
        @local.store_records(records, time)
      end

      # As of LocalLevel.
      def store_again(call, entry, seconds)
        entry.expires_at = Clock.now + seconds
        write(Call.new(call.name, call.key, { **call.options, expires_in: seconds * 2 }, call.version, call.prefix),
              entry, nil)
      end

      # As of LocalLevel. The remote store's answer, or the file's where that one will be told later.
      def delete(key)
        deleted(:delete_entry, [key], -> { @local.delete(key) }) { @remote.delete_multi([key]).positive? }
      end

      # As of LocalLevel, see {#delete}.
      def delete_many(keys)
        deleted(:delete_multi_entries, keys, -> { @local.delete_many(keys) }) { @remote.delete_multi(keys) }
      end

      # Only copies have expired: the remote store may have others.
      def drop_expired(keys)
        @copies.drop(keys)
      end

      # As of LocalLevel. First in the remote store: what is read there from now on is no longer found.
      def delete_tagged(names)
        @failsafe.guard(:delete_tagged) { @tags.change(names) }
      ensure
        @local.delete_tagged(names)
        publish(:tags, names.map { |name| TagTexts.own(name) })
      end

      # As of LocalLevel. The remote store decides whether it can empty a namespace alone.
      def clear(prefix, options = nil)
        @failsafe.guard(:clear) do
          @remote.change(:clear, [prefix]) { @remote.clear(prefix, options || {}) }
          true
        end
      ensure
        @local.clear(prefix)
        publish(:prefix, [prefix])
      end

      # As of LocalLevel. The remote store raises for a pattern that it does not take. If it does not answer, it will be
      # asked later to delete what matches a glob, or, as a Regexp cannot be listed, everything.
      def delete_matched(matcher)
        pattern = matcher.pattern
        later = matcher.regexp? ? [:clear, [""]] : [:delete_matched, [pattern]]
        @failsafe.guard(:delete_matched) do
          next @remote.delete_matched(pattern) unless @remote.matches?(pattern)

          @remote.change(*later) { @remote.delete_matched(pattern) }
        end
      ensure
        @local.delete_matched(matcher)
        publish(:prefix, [""])
      end

      # As of LocalLevel. Counters are in the remote store alone.
      def count(operation, call, amount)
        refuse_tags(call)
        @failsafe.guard(operation) do
          counted(call.key, amount) { @remote.count(operation, call.key, amount, call.options) if ready? }
        end
      end

      # ---- leases of this machine ----

      # As of LocalLevel.
      def take_lease(call, over = nil)
        @local.take_lease(call, over)
      end

      # As of LocalLevel.
      def lease_over?(...)
        @local.lease_over?(...)
      end

      # As of LocalLevel.
      def end_lease(...)
        @local.end_lease(...)
      end

      # The file alone is read: a call of the remote store takes and ends a lease of the key itself, so that this caller
      # could never take it over.
      def landed(call)
        @local.landed(call) if trusted?
      end

      # Yields to compute a value, unless another machine has computed it: true, if it is stored.
      #
      # @return [Object] the value; {RemoteLease::AGAIN}: the lease of this machine has ended
      def across(call, flight, deadline, &block)
        RemoteLease.new(self, call, flight).run(deadline, &block)
      end

      # ---- errors of blocks ----

      # As of LocalLevel. The lease does not make the file's old value fresh, which another machine may have replaced.
      def after_error(call, began)
        back_off(call, began)
        0
      end

      # As of LocalLevel.
      def back_off(call, began, entry = kept(call))
        return unless entry&.expired? && entry.expires_at <= began

        @back_offs.begin(call.key, entry) { ready? }
      end

      # As of LocalLevel.
      def backs_off?(call, entry)
        entry&.expired? ? @back_offs.any?(call.key, entry) : false
      end

      # ---- for the parts of this level ----

      # May the remote store be asked? Other machines are listened to from then on.
      # @return [Boolean]
      def ready?
        @machines.listen
        @remote.ready?
      end

      # @return [Copies::Asked] of this moment
      def asked
        @machines.listen
        Copies::Asked.new(Clock.now_ms / 1000.0, @local.stamp)
      end

      # As of LocalLevel.
      def cache
        @local.cache
      end

      # As of LocalLevel.
      def format
        @local.format
      end

      # @return [Hash{Symbol=>Object}] with those of the remote store
      def stats
        figures = nil
        file = @failsafe.guard(:stats, returning: {}) do
          figures = @local.cache.stats
          { trusted: @machines.trusted_now? }
        end
        { **figures.to_h, remote: { **@remote.stats, trusted: file[:trusted] } }
      end

      private

      def remote_entry(call)
        @failsafe.ask(:read_entry) { asked && @remote.read(call.key, call.options) }
      end

      # Yields if the remote store does not answer.
      def fill(call, &otherwise)
        @failsafe.ask(:read_entry, otherwise) { @copies.fill_one(call.key, call) { asked } }
      end

      def fill_many(calls, &otherwise)
        keys = calls.map(&:key).uniq
        @failsafe.ask(:read_multi_entries, otherwise) { @copies.fill(keys, calls.first) { asked } } || {}
      end

      # An entry that is raw has no copy.
      def remote_entries(calls, &otherwise)
        return fill_many(calls, &otherwise) unless calls.first[:raw]

        @failsafe.ask(:read_multi_entries, otherwise) do
          asked && @remote.entries_of(@remote.read_multi(calls.map(&:key).uniq, raw: true), raw: true)
        end || {}
      end

      # Rails' fetch stores an entry again that has expired a short while ago.
      def live(entry, call)
        entry unless entry&.expired? && !call[:race_condition_ttl]
      end

      def fresh?(entry, call)
        entry && !entry.expired? && !entry.mismatched?(call.version)
      end

      # Copies that may be the answer while the remote store does not answer.
      #
      # @return [Hash{String=>ActiveSupport::Cache::Entry}]
      def kept_without_remote(calls)
        copies = calls.to_h { |call| [call.key, @local.kept(call)] }.compact
        @back_offs.apply(copies, calls.first, ask: false)
      end

      # Yields to ask the remote store.
      #
      # @param copy [ActiveSupport::Cache::Entry, nil] of this machine
      # @return [ActiveSupport::Cache::Entry, nil] the copy, if that takes long and the copy may be served
      def softly(copy, call)
        return yield unless copy && call[:soft_timeout] && call[:stale_if_error] &&
                            Call.within?(copy, call[:stale_if_error])

        done, found = Concurrent::Event.new, nil
        begun = Refreshes.now do
          found = yield
        ensure
          done.set
        end
        return yield unless begun

        done.wait(call[:soft_timeout].to_f) ? found : copy
      end

      def publish(kind, texts)
        @machines.publish(kind, texts)
      end

      # A write begins now, its value where it began to be computed.
      def asked_for(call)
        Copies::Asked.new(Clock.now, (@local.stamp_of_write(call) || stamp(call) if call.tagged?))
      end

      # @raise [ArgumentError] there are any, and nothing beside the bytes that could have them
      def refuse_tags(call)
        return unless call[:tags] && call.texts.names.any?

        raise ::ArgumentError, "tags: of LarderStore with remote: cannot be those of a raw value or a counter, which " \
                               "delete_tagged would not delete; leave out tags:, or raw:"
      end

      def write_each(entries, call)
        entries.map do |key, entry|
          one = call.of(key)
          write(one, entry, (Flights.for_write(@records, key) if call.leases?))
        end.all? || nil
      end

      # An entry that is raw, or must not be there, has no copy.
      def write_remotely(call, entry)
        terms = [kept_in(entry, call), call.options.slice(*WITHOUT_COPY)]
        if KEEPING.any? { |option| call[option] }
          return changed(call.key) do
            @remote.keeping([call.key]) { @remote.write(call.key, entry, *terms) } if ready?
          end
        end

        changed(call.key) do
          @remote.change(:delete, [call.key], [entry]) { @remote.write(call.key, entry, *terms) }
        end
      end

      # What another caller deletes or writes at the same time wins in the file. One who has the lease may have read the
      # remote store before: he loses it. If the remote store does not answer, this machine has the value all the same.
      def write_together(entries, call, asked)
        @copies.leased(entries.keys) do |leases|
          left = entries.keys
          stored = written?(entries) { yield kept_in(entries.values.first, call) }
          left -= @copies.keep(entries, asked, leases, call) unless stored == false
          stored.nil? ? left.empty? || nil : stored
        ensure
          leases.clear
          @copies.drop(left) if left&.any?
          publish(:keys, entries.keys)
        end
      end

      # @return [Boolean, nil] the block's value; nil: the remote store will be told later to delete the old value
      def written?(entries, &block)
        @remote.change(:delete, entries.keys, entries.values, &block)
      rescue RemoteError => e
        @failsafe.failed(:write_entry, nil, e)
      end

      # A value that this thread has computed under a lease. If the key was deleted since, it is not stored.
      def write_in_flight(flight, call, entry, far, asked)
        return @local.store(call.key, nil, flight, call) unless flight.token

        if @records.lease_wait(call.key, flight.token, 0, Clock.now_ms) # it has ended
          Flights.note_overrun(flight, call.lease)
          Flights.current.drop(flight)
          return false
        end
        kept = kept_in(entry, call)
        return false if written?({ call.key => entry }) { write_under_lease(flight, call, far, kept) } == false

        record = @copies.record_of(entry, asked, call.texts, call)
        stored = record && @local.store(call.key, record, flight, call)
        # Under a lease of the remote store the owner checks that store for changes.
        unless stored || flight.remote&.decides?
          @remote.change(:delete, [call.key]) { @remote.delete_multi([call.key]) }
        end
        publish(:keys, [call.key])
        stored ? true : false
      end

      def write_under_lease(flight, call, entry, kept)
        flight.remote ? flight.remote.write(entry, kept) : @remote.write(call.key, entry, kept)
      end

      def deleted(method, keys, local, &block)
        answer = begin
          @failsafe.guard(method) { @remote.change(:delete, keys, &block) }
        ensure
          copies = local.call
          publish(:keys, keys)
        end
        answer.nil? ? copies : answer
      end

      # There may be copies of an entry that a counter replaces when it begins, and none of a counter of a server.
      def counted(key, amount)
        count = yield
      ensure
        @copies.drop([key])
        publish(:keys, [key]) unless @remote.raw_counters? && count && count.abs > amount.abs
      end

      # Changes the remote store, and removes copies, also if that failed.
      def changed(*keys)
        yield
      ensure
        @copies.drop(keys)
        publish(:keys, keys)
      end

      # @return [Float, nil] seconds for which the remote store has to keep the entry
      def kept_in(entry, call)
        return unless entry.expires_at
        return entry.expires_at - Clock.now if call[:raw] # the bytes have no expiry of their own

        windows = Call::STALE.filter_map { |name| call[name]&.to_f }
        windows << RACE if call[:race_condition_ttl]
        entry.expires_at - Clock.now + windows.max.to_f
      end
    end
  end
end
