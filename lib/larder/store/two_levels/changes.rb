# frozen_string_literal: true

# Changes of two levels.

require "larder/store/two_levels/written_together"

module Larder
  module Store
    class TwoLevels
      # Each is applied to the remote store, or listed in its outbox, then to the file, and then published.
      # @api private
      class Changes
        # Seconds for which Rails' stores keep an entry for race_condition_ttl after it has expired.
        RACE = 300
        # Options of entries of which the file has no copy.
        WITHOUT_COPY = Options.with(:no_copy)
        # Options of raw entries that are not to be lost if the remote store does not take a new value: it keeps the old
        # one. `kept:` is of sessions, and no option of applications.
        KEEPING = %i[unless_exist kept].freeze
        # Seconds that a caller has to replace an entry that a tag has deleted. No other caller does it then.
        REPLACING = 5
        private_constant :RACE, :WITHOUT_COPY, :KEEPING, :REPLACING

        # @param levels [TwoLevels]
        def initialize(levels)
          @levels = levels
          @local = levels.local
          @records = levels.records
          @failsafe = levels.failsafe
          @remote = levels.remote
          @outbox = levels.remote.outbox
          @machines = levels.machines
          @tags = levels.tags
          @copies = levels.copies
          @times = levels.times
        end

        # As of LocalLevel.
        def write(call, entry, flight)
          refuse_tags(call) if call.options[:raw]
          @failsafe.guard_write(:write_entry) do
            asked = asked_for(call)
            far = marked(entry, call, asked)
            @times.note(call.key, entry, flight.compute_ms) if flight&.compute_ms
            if flight&.leased? && !call.options[:unless_exist] then write_in_flight(flight, call, entry, far, asked)
            elsif WITHOUT_COPY.any? { |option| call.options[option] } then write_remotely(call, far)
            else
              write_together({ call.key => entry }, call, asked) { |kept| @remote.write(call.key, far, kept) }
            end
          end
        end

        # As of LocalLevel.
        #
        # @param flights [Hash{String=>Flight}] by key, under which the values were computed
        def write_many(entries, call, flights = nil)
          return true if entries.empty?
          return write_each(entries, call) if WITHOUT_COPY.any? { |option| call.options[option] }

          @failsafe.guard_write(:write_multi_entries) do
            next write_alike(entries, call) unless flights || call.leases? || call.options[:tags]

            flights ||= call.leases? ? entries.to_h { |key, _| [key, Flights.begun&.for_write(@records, key)] } : {}
            flights.each do |key, flight|
              @times.note(key, entries[key], flight.compute_ms) if flight&.compute_ms && entries.key?(key)
            end
            WrittenTogether.new(@levels, self, entries, call, flights).run
          end
        end

        # As of LocalLevel. The entry keeps its tags, with the versions that they had. It is read a second time, so that
        # it replaces nothing that was written since, and does not bring back what was deleted.
        def store_again(call, entry, seconds)
          asked = @levels.asked
          stored, names = @failsafe.ask(:read_entry) { unchanged(call.key, entry) }
          return unless stored

          again = ActiveSupport::Cache::Entry.new(entry.value, expires_at: Clock.now + seconds, version: entry.version)
          far = @tags.with_value(again, @tags.again(stored.value, entry.value))
          terms = { **call.options, expires_in: seconds * 2, tags: TagTexts.of(names, call.prefix) }
          terms = Call.new(call.name, call.key, terms, call.version, call.prefix)
          @failsafe.guard_write(:write_entry) do
            write_together({ call.key => again }, terms, asked) { |kept| @remote.write(call.key, far, kept) }
          end
        end

        # As of LocalLevel. The remote store's answer, or the file's where that one will be told later.
        def delete(key)
          deleted(:delete_entry, [key], -> { @local.delete(key) }) { @remote.delete_multi([key]).positive? }
        end

        # As of LocalLevel, see {#delete}.
        def delete_many(keys)
          deleted(:delete_multi_entries, keys, -> { @local.delete_many(keys) }) { @remote.delete_multi(keys) }
        end

        # As of LocalLevel. First in the remote store: what is read there from now on is no longer found.
        def delete_tagged(names)
          @failsafe.guard(:delete_tagged) { @tags.change(names) }
        ensure
          @local.delete_tagged(names)
          @machines.publish(:tags, names.map { |name| TagTexts.own(name) })
        end

        # As of LocalLevel. The remote store decides whether it can empty a namespace alone.
        def clear(prefix, options = nil)
          @failsafe.guard(:clear) do
            @outbox.change(:clear, [prefix]) { @remote.clear(prefix, options || {}) }
            true
          end
        ensure
          @local.clear(prefix)
          @machines.publish(:prefix, [prefix])
        end

        # As of LocalLevel. The remote store raises for a pattern that it does not take. If it does not answer, it will
        # be asked later to delete what matches a glob, or, as a Regexp cannot be listed, everything.
        def delete_matched(matcher)
          pattern = matcher.regexp? ? matcher.pattern : glob_of(matcher)
          later = matcher.regexp? ? [:clear, [""]] : [:delete_matched, [pattern]]
          @failsafe.guard(:delete_matched) do
            next @remote.delete_matched(pattern) unless @remote.matches?(pattern)

            @outbox.change(*later) { @remote.delete_matched(pattern) }
          end
        ensure
          @local.delete_matched(matcher)
          @machines.publish(:prefix, [""])
        end

        # As of LocalLevel. Counters are in the remote store alone.
        def count(operation, call, amount)
          refuse_tags(call)
          @failsafe.guard(operation) do
            counted(call.key, amount) do
              @remote.count(operation, call.key, amount, call.options) if @levels.ready?
            end
          end
        end

        # @return [Float, nil] seconds for which the remote store has to keep the entry
        def kept_in(entry, call)
          ends = entry.expires_at or return
          options = call.options
          left = ends - Clock.now
          return left if options[:raw] # the bytes have no expiry of their own
          return left if options[:unless_exist] # the store would refuse the next one
          return left unless call.keeps || options[:race_condition_ttl]

          windows = Call::STALE.filter_map { |name| options[name]&.to_f }
          windows << RACE if options[:race_condition_ttl]
          left + windows.max.to_f
        end

        private

        # @param entry [ActiveSupport::Cache::Entry] that was read
        # @return [Array(ActiveSupport::Cache::Entry, Array<String>), nil] the same as the remote store has it, and its
        #   tags; nil: it was deleted or replaced
        def unchanged(key, entry)
          stored, found, names = opened(key)
          [stored, names] if found && found.expires_at == entry.expires_at && found.version == entry.version
        end

        # @return [Array] an entry as the remote store has it, the same without its tags (nil: one of them has deleted
        #   it), and its tags; empty: there is none
        def opened(key)
          stored = @remote.read(key) or return []
          entries = { key => stored }
          names = @tags.open(entries)[key]
          [stored, entries[key], names]
        end

        # The namespace is not a part of the glob.
        def glob_of(matcher)
          @remote.literal(matcher.prefix) + matcher.pattern.byteslice(matcher.prefix.bytesize..)
        end

        # Entries without leases and tags.
        def write_alike(entries, call)
          asked = asked_for(call.of(entries.each_key.first))
          far = entries.transform_values { |entry| marked(entry, call, asked) }
          write_together(entries, call, asked) { |kept| @remote.write_multi(far, kept) }
        end

        # A write begins now, its value where it began to be computed.
        def asked_for(call)
          stamp = @local.stamp_of_write(call) || @levels.stamp(call) if call.options[:tags] || call.options[:namespace]
          Copies::Asked.new(Clock.now, stamp)
        end

        # @return [ActiveSupport::Cache::Entry] for the remote store. The value of an entry with tags is an Array
        def marked(entry, call, asked)
          return entry unless call.options[:tags] || entry.value.is_a?(Array)

          @tags.marked(entry, call, asked.stamp)
        end

        # @raise [ArgumentError] there are any, and nothing beside the bytes that could have them
        def refuse_tags(call)
          return unless call.options[:tags] && call.texts.names.any?

          raise ::ArgumentError, "tags: of LarderStore with remote: cannot be those of a raw value or a counter, " \
                                 "which delete_tagged would not delete; leave out tags:, or raw:"
        end

        def write_each(entries, call)
          entries.map do |key, entry|
            one = call.of(key)
            write(one, entry, (Flights.begun&.for_write(@records, key) if call.leases?))
          end.all? || nil
        end

        # An entry that is raw, or must not be there, has no copy.
        def write_remotely(call, entry)
          terms = [kept_in(entry, call), call.options.slice(*WITHOUT_COPY)]
          keeping = KEEPING.any? { |option| call.options[option] }
          changed(call.key) do
            if keeping
              @outbox.expecting([call.key]) { write_or_replace(call, entry, terms) } if @levels.ready?
            else
              @outbox.change(:delete, [call.key], [entry]) { @remote.write(call.key, entry, *terms) }
            end
          end
        end

        # For the remote store an entry that a tag has deleted is still there.
        #
        # @return [Boolean] was it stored?
        def write_or_replace(call, entry, terms)
          return true if @remote.write(call.key, entry, *terms)
          return false unless call.options[:unless_exist] && call.options[:tags] && tag_deleted?(call.key)

          alone = "#{Remote.lease_key(call.key)}/replaced"
          mark = ActiveSupport::Cache::Entry.new("", expires_in: REPLACING)
          return false unless @remote.write(alone, mark, REPLACING, unless_exist: true)

          begin
            @remote.delete(call.key) if tag_deleted?(call.key)
            @remote.write(call.key, entry, *terms)
          ensure
            @remote.delete(alone)
          end
        end

        def tag_deleted?(key)
          stored, found = opened(key)
          !stored.nil? && found.nil?
        end

        # What another caller deletes or writes at the same time wins in the file. One who has the lease may have read
        # the remote store before: he loses it. If the remote store does not answer, this machine has the value all the
        # same.
        def write_together(entries, call, asked)
          keys = entries.keys
          @copies.leased(keys) do |leases|
            left = keys
            last = entries.each_value.first
            last = entries.each_value.max_by { |entry| entry.expires_at || 0 } if call.options[:jitter]
            stored = written?(keys, entries.values) { yield kept_in(last, call) }
            left -= @copies.keep(entries, asked, leases, call) unless stored == false
            stored.nil? ? left.empty? || nil : stored
          ensure
            leases.clear
            @copies.drop(left) if left&.any?
            @machines.publish(:keys, keys)
          end
        end

        # @return [Boolean, nil] the block's value; nil: the remote store will be told later to delete the old value
        def written?(keys, entries, &block)
          @outbox.change(:delete, keys, entries, &block)
        rescue RemoteError => e
          @failsafe.failed(:write_entry, nil, e)
        end

        # A value that this thread has computed under a lease. If the key was deleted since, it is not stored.
        def write_in_flight(flight, call, entry, far, asked)
          key = call.key
          token = flight.token or return @local.store(key, nil, flight, call)
          return overrun(flight, call) if @records.lease_wait(key, token, 0, Clock.now_ms) # it has ended

          seconds = kept_in(entry, call)
          stored = written?([key], [entry]) do
            next flight.remote.write(far, seconds) if flight.remote

            @remote.write(key, far, seconds, call.options.slice(:raw))
          end
          return false if stored == false

          begin
            kept = @copies.keep_in_flight(key, entry, asked, call.texts, call, flight)
            # Under a lease of the remote store the owner checks that store for changes.
            @outbox.change(:delete, [key]) { @remote.delete_multi([key]) } if kept == false && !flight.remote&.decides?
          ensure
            @machines.publish(:keys, [key])
          end
          kept.nil? ? stored : kept
        end

        def overrun(flight, call)
          Flights.note_overrun(flight, call.lease)
          Flights.current.drop(flight)
          false
        end

        def deleted(method, keys, local, &block)
          answer = begin
            @failsafe.guard(method) { @outbox.change(:delete, keys, &block) }
          ensure
            copies = local.call
            @machines.publish(:keys, keys)
          end
          answer.nil? ? copies : answer
        end

        # There may be copies of an entry that a counter replaces when it begins, and none of a counter of a server.
        def counted(key, amount)
          count = yield
        ensure
          @copies.drop([key])
          @machines.publish(:keys, [key]) unless @remote.raw_counters? && count && count.abs > amount.abs
        end

        # Changes the remote store, and removes copies, also if that failed.
        def changed(*keys)
          yield
        ensure
          @copies.drop(keys)
          @machines.publish(:keys, keys)
        end
      end
    end
  end
end
