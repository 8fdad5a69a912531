# frozen_string_literal: true

# Two levels: what this machine's file does not have, a store that several machines share is asked for. It gets every
# change, too.

require "larder/store/remote"
require "larder/store/backplane"

module Larder
  module Store
    # `remote:`. The file has copies of entries of the remote store, each for `local_expires_in` at most from when that
    # store was asked. Changes are applied to the remote store first, then to the file.
    #
    # A copy must not be older than what this machine has deleted or written since. So a lease of the key in the file is
    # taken before the remote store is read or written, and the copy is stored under it: who deletes or writes the key
    # in between ends the lease.
    module Levels
      # Seconds for which a copy is used, and where other machines tell of changes.
      LOCAL_EXPIRES_IN = 5
      LONGER = 60
      # After so many ms of a call of the remote store no copy is stored.
      LEASE_MS = 10_000
      # Seconds for which Rails' stores keep an entry for race_condition_ttl after it has expired.
      RACE = 300
      # Options of entries of which the file has no copy.
      WITHOUT_COPY = %i[raw unless_exist].freeze
      # When the remote store was asked, and the stamp of before.
      Asked = Struct.new(:at, :stamp)
      private_constant :LEASE_MS, :RACE, :WITHOUT_COPY, :Asked

      # As Rails'.
      def exist?(name, options = nil)
        super(name, with_version(name, options))
      end

      # Counters are in the remote store alone; otherwise as without one.
      def increment(name, amount = 1, options = nil, **keywords)
        @remote ? count_remotely(:increment, name, amount, options, keywords) : super
      end

      # As increment.
      def decrement(name, amount = 1, options = nil, **keywords)
        @remote ? count_remotely(:decrement, name, amount, options, keywords) : super
      end

      # As Rails'. The remote store decides what it can match.
      def delete_matched(matcher, options = nil)
        return super unless @remote

        merged = merged_options(options)
        pattern = matcher.is_a?(Regexp) ? key_matcher(matcher, merged) : namespace_key(matcher, merged)
        failsafe(:delete_matched) do
          next @remote.delete_matched(pattern) unless pattern.is_a?(String)

          @remote.change(:delete_matched, [pattern]) { @remote.delete_matched(pattern) }
        end
      ensure
        if @remote
          super
          tell(:prefix, [""])
        end
      end

      # As Rails'. The remote store decides whether it can empty a namespace alone.
      def clear(options = nil)
        return super unless @remote

        prefix = namespace_prefix(merged_options(options))
        failsafe(:clear) do
          @remote.change(:clear, [prefix]) { @remote.clear(prefix, options || {}) }
          true
        end
      ensure
        if @remote
          super
          tell(:prefix, [prefix])
        end
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
      def stored_entry(key)
        copy = super
        return copy if @remote.nil? || (copy && !copy.expired? && trusted?)

        entry = fill(key, {}) { copy }
        entry&.value
        entry
      rescue ActiveSupport::Cache::DeserializationError
        nil
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

      # May copies be used?
      def trusted?
        @backplane.nil? || failsafe(:read_entry, returning: false) { @cache.trusted? }
      end

      # May the remote store be asked?
      def ready?
        @backplane&.start(@cache, ->(error) { failed(:backplane, nil, RemoteError.new(error.message)) })
        @remote.ready?
      end

      # Of the journal's changes, which were not in the remote store yet when other machines were told.
      def tell_of_applied(kind, texts)
        case kind
        when :delete then tell(:keys, texts)
        when :clear then tell(:prefix, texts)
        else tell(:prefix, [""])
        end
      end

      # Tells other machines that their copies are old.
      def tell(kind, texts)
        @backplane&.publish(kind, texts)
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

      def asking(method, otherwise)
        yield
      rescue Remote::Waiting
        otherwise&.call
      rescue RemoteError => e
        failed(method, nil, e)
        otherwise&.call
      end

      # @return [Hash{String=>ActiveSupport::Cache::Entry}] those of the entries that no tag has deleted
      def keep_copies(entries, asked, leases, options)
        opened(entries).each_with_object({}) do |(key, (entry, tags)), found|
          found[key] = entry
          terms = options.slice(:namespace).merge(tags: tags)
          leases.delete(key) if leases[key] && keep_copy(key, entry, asked, leases[key], terms)
        end
      end

      def remote_entry(key, options)
        asking(:read_entry, nil) { ask && @remote.read(key, options) }
      end

      # Yields leases of those keys of which there are some to have, by key. Ends those that are left.
      def leased(keys)
        time = now_ms
        leases = keys.to_h { |key| [key, lease_for_copy(key, time)] }.compact
        yield leases
      ensure
        leases&.each { |key, lease| failsafe(:read_entry) { @records.lease_end(key, lease, 0, now_ms) } }
      end

      # @return [String, nil] nil: another caller has it, or the file cannot serve
      def lease_for_copy(key, time)
        failsafe(:read_entry) do
          status, lease = @records.lease(key, LEASE_MS, nil, time)
          status, lease = @records.lease(key, LEASE_MS, lease, time) if status == Records::PRESENT
          lease if status == Records::TAKEN
        end
      end

      # @return [Boolean] was a copy stored? Then the lease has ended
      def keep_copy(key, entry, asked, lease, options)
        record = copy_of(entry, asked, options)
        record ? failsafe(:read_entry) { copied?(key, record, lease) } : false
      end

      def copied?(key, record, lease)
        @records.set_leased(key, record, now_ms, lease)
      rescue Larder::InvalidArgument # it is too long for the file
        false
      end

      # The record of a copy; nil: it would have expired.
      def copy_of(entry, asked, options)
        expires_at = [entry.expires_at, asked.at + @local_expires_in].compact.min
        left = expires_at - now
        return unless left.positive?

        copy = ActiveSupport::Cache::Entry.new(entry.value, version: entry.version, expires_at: expires_at)
        record = record_of(copy, { expires_in: left })
        texts = texts_of(options)
        texts.empty? ? record : @records.tagged(record, texts, asked.stamp)
      rescue ActiveSupport::Cache::DeserializationError
        nil
      end

      # For Entries.
      def write_far(key, entry, options)
        store_safely(:write_entry) do
          asked = asked_for(key, options)
          far = with_versions(entry, options, asked.stamp)
          if WITHOUT_COPY.any? { |option| options[option] }
            write_remotely(key, far, options)
          elsif (lease = leases?(options) && Leases.of(@records, key))
            write_leased(lease, key, entry, options, asked) { |kept| @remote.write(key, far, kept) }
          else
            write_many({ key => entry }, options, asked) { |kept| @remote.write(key, far, kept) }
          end
        end
      rescue Larder::UnserializableError
        delete_entry(key) # the old value, as the new one is refused
        raise
      end

      # Multi's.
      def write_multi_entries(entries, **options)
        return super if @remote.nil? || leases?(options) || tagged?(options) ||
                        WITHOUT_COPY.any? { |option| options[option] }
        return entries if entries.empty?

        store_safely(:write_multi_entries) do
          write_many(entries, options, Asked.new(now)) { |kept| @remote.write_multi(entries, kept) } && entries
        end
      rescue Larder::UnserializableError
        delete_multi_entries(entries.keys)
        raise
      end

      # A write begins now, its value where it began to be computed.
      def asked_for(key, options)
        Asked.new(now, (Stamps.of(@records, key) || stamp(options) if tagged?(options)))
      end

      # What must not be there, or is no entry, has no copy.
      def write_remotely(key, entry, options)
        terms = [kept_in(entry, options), options.slice(*WITHOUT_COPY)]
        return changed(key) { @remote.write(key, entry, *terms) if ready? } if options[:unless_exist]

        changed(key) { @remote.change(:delete, [key]) { @remote.write(key, entry, *terms) } }
      end

      # What another caller deletes or writes at the same time wins in the file. One who has the lease may have read the
      # remote store before: he loses it. If the remote store does not answer, this machine has the value all the same.
      def write_many(entries, options, asked)
        leased(entries.keys) do |leases|
          left = entries.keys
          stored = written?(left) { yield kept_in(entries.values.first, options) }
          left -= leases.keys.select { |key| keep_copy(key, entries[key], asked, leases[key], options) } if stored
          stored
        ensure
          leases.clear
          drop_copies(left) if left&.any?
          tell(:keys, entries.keys)
        end
      end

      # @return [Boolean] the block's value; true: the remote store will be told later
      def written?(keys, &block)
        stored = @remote.change(:delete, keys, &block)
        stored.nil? || stored
      rescue RemoteError => e
        failed(:write_entry, true, e)
      end

      # A value that this thread has computed under a lease. If the key was deleted since, it is not stored.
      def write_leased(lease, key, entry, options, asked, &block)
        return store_record(key, nil, now_ms, options) unless lease.bytes
        return Leases.drop(lease) && false if @records.lease_wait(key, lease.bytes, 0, now_ms)

        return false unless written?([key]) { block.call(kept_in(entry, options)) }

        record = copy_of(entry, asked, options)
        stored = record && store_record(key, record, now_ms, options)
        @remote.change(:delete, [key]) { @remote.delete(key) } unless stored
        tell(:keys, [key])
        stored ? true : false
      end

      # Entries'.
      def delete_entry(key, **)
        return super unless @remote

        deleted(:delete_entry, [key], -> { super }) { @remote.delete(key) }
      end

      # Multi's.
      def delete_multi_entries(keys, **)
        return super unless @remote

        deleted(:delete_multi_entries, keys, -> { super }) { @remote.delete_multi(keys) }
      end

      # The remote store's answer, or the file's where that one will be told later.
      def deleted(method, keys, local, &block)
        told = begin
          failsafe(method) { @remote.change(:delete, keys, &block) }
        ensure
          copies = local.call
          tell(:keys, keys)
        end
        told.nil? ? copies : told
      end

      # Multi's. Only copies have expired: the remote store may have others.
      def delete_expired(keys, **options)
        @remote ? drop_copies(keys) : super
      end

      def count_remotely(operation, name, amount, options, keywords)
        options = merged_options(options ? options.merge(keywords) : keywords)
        key = normalize_key(name, options)
        instrument(operation, instrumented_key(name, key), amount: amount) do
          failsafe(operation) do
            changed(key) { @remote.count(operation, key, Integer(amount), options) if ready? }
          end
        end
      end

      # Changes the remote store, and removes copies, also if that failed.
      def changed(*keys)
        yield
      ensure
        drop_copies(keys)
        tell(:keys, keys)
      end

      def drop_copies(keys)
        failsafe(:delete_multi_entries) { @cache.delete_multi(keys, now: now) }
      end

      # Failsafe's. One report of many failures of the remote store in a row.
      def failed(method, returning, error)
        return super if !error.is_a?(RemoteError) || @raise_errors || @remote.report?

        returning
      end

      # @return [Float, nil] seconds for which the remote store has to keep the entry
      def kept_in(entry, options)
        return unless entry.expires_at

        windows = StaleServing::LENGTHS.filter_map { |name| options[name]&.to_f }
        windows << RACE if options[:race_condition_ttl]
        entry.expires_at - now + windows.max.to_f
      end
    end
  end
end
