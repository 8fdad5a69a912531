# frozen_string_literal: true

# Changes of a store with two levels.

module Larder
  module Store
    # They are applied to the remote store first, then to the file, and other machines are told.
    module RemoteChanges
      # Seconds for which Rails' stores keep an entry for race_condition_ttl after it has expired.
      RACE = 300
      # Options of entries of which the file has no copy.
      WITHOUT_COPY = %i[raw unless_exist].freeze
      # Options of raw entries that are not to be lost if the remote store does not take a new value: it keeps the old
      # one. `kept:` is of sessions, and no option of applications.
      KEEPING = %i[unless_exist kept].freeze
      private_constant :RACE, :WITHOUT_COPY, :KEEPING

      # Counters are in the remote store alone; otherwise as without one.
      def increment(name, amount = 1, options = nil, **keywords)
        @remote ? count_remotely(:increment, name, amount, options, keywords) : super
      end

      # As increment.
      def decrement(name, amount = 1, options = nil, **keywords)
        @remote ? count_remotely(:decrement, name, amount, options, keywords) : super
      end

      # As Rails'. The remote store raises for a pattern that it does not take. If it does not answer, it will be asked
      # later to delete what matches a glob, or, as a Regexp cannot be listed, everything.
      def delete_matched(matcher, options = nil)
        return super unless @remote

        merged = merged_options(options)
        pattern = matcher.is_a?(Regexp) ? key_matcher(matcher, merged) : namespace_key(matcher, merged)
        later = pattern.is_a?(String) ? [:delete_matched, [pattern]] : [:clear, [""]]
        failsafe(:delete_matched) do
          next @remote.delete_matched(pattern) unless @remote.matches?(pattern)

          @remote.change(*later) { @remote.delete_matched(pattern) }
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

      # Of the journal's changes, which were not in the remote store yet when other machines were told.
      def tell_of_applied(kind, texts)
        case kind
        when :delete then tell(:keys, texts)
        when :clear then tell(:prefix, texts)
        else tell(:prefix, [""])
        end
      end

      # Tells other machines that their copies are old. A process that only changes entries listens, too: the listener
      # repairs messages that were lost.
      def tell(kind, texts)
        return unless @backplane

        listen
        error = @backplane.publish(kind, texts)
        failed(:backplane, nil, error) if error
      end

      # For Entries.
      def write_far(key, entry, options)
        refuse_tags(options) if options[:raw]
        store_safely(:write_entry) do
          asked = asked_for(key, options)
          far = with_versions(entry, options, asked.stamp)
          if WITHOUT_COPY.any? { |option| options[option] }
            write_remotely(key, far, options)
          elsif (lease = leases?(options) && Leases.of(@records, key))
            write_leased(lease, key, entry, options, asked) { |kept| write_far_leased(lease, key, far, kept) }
          else
            write_many({ key => entry }, options, asked) { |kept| @remote.write(key, far, kept) }
          end
        end
      end

      # Multi's.
      def write_multi_entries(entries, **options)
        return super unless @remote
        return entries if entries.empty?
        return write_each(entries, options) if leases?(options) || options[:tags] ||
                                               WITHOUT_COPY.any? { |option| options[option] }

        store_safely(:write_multi_entries) do
          asked = asked_for(entries.each_key.first, options)
          write_many(entries, options, asked) { |kept| @remote.write_multi(entries, kept) } && entries
        end
      end

      def write_each(entries, options)
        entries.map { |key, entry| write_entry(key, entry, **options) }.all? && entries
      end

      # A write begins now, its value where it began to be computed.
      def asked_for(key, options)
        Copies::Asked.new(now, (stamp_of_write(key, options) || stamp(options) if tagged?(options)))
      end

      # @raise [ArgumentError] there are any, and nothing beside the bytes that could have them
      def refuse_tags(options)
        return unless options[:tags] && texts_of(options).any? { |text| text.start_with?("\0") }

        raise ::ArgumentError, "tags: of LarderStore with remote: cannot be those of a raw value or a counter, which " \
                               "delete_tagged would not delete; leave out tags:, or raw:"
      end

      # What must not be there, or is no entry, has no copy.
      def write_remotely(key, entry, options)
        terms = [kept_in(entry, options), options.slice(*WITHOUT_COPY)]
        if KEEPING.any? { |option| options[option] }
          return changed(key) { @remote.keeping([key]) { @remote.write(key, entry, *terms) } if ready? }
        end

        changed(key) { @remote.change(:delete, [key], [entry]) { @remote.write(key, entry, *terms) } }
      end

      # What another caller deletes or writes at the same time wins in the file. One who has the lease may have read the
      # remote store before: he loses it. If the remote store does not answer, this machine has the value all the same.
      def write_many(entries, options, asked)
        leased(entries.keys) do |leases|
          left = entries.keys
          stored = written?(entries) { yield kept_in(entries.values.first, options) }
          left -= copied(entries, asked, leases, options) unless stored == false
          stored.nil? ? left.empty? || nil : stored
        ensure
          leases.clear
          drop_copies(left) if left&.any?
          tell(:keys, entries.keys)
        end
      end

      # @return [Array<String>] keys of which there are copies now
      def copied(entries, asked, leases, options)
        keys = leases.keys
        keep_all(entries, texts_of(options), asked, leases, options)
        keys - leases.keys
      end

      # @return [Boolean, nil] the block's value; nil: the remote store will be told later to delete the old value
      def written?(entries, &block)
        @remote.change(:delete, entries.keys, entries.values, &block)
      rescue RemoteError => e
        failed(:write_entry, nil, e)
      end

      # A value that this thread has computed under a lease. If the key was deleted since, it is not stored.
      def write_leased(lease, key, entry, options, asked, &block)
        return store_record(key, nil, now_ms, options) unless lease.bytes

        if @records.lease_wait(key, lease.bytes, 0, now_ms) # it has ended
          Leases.note_overrun(lease, lease_seconds(options))
          Leases.drop(lease)
          return false
        end
        return false if written?({ key => entry }) { block.call(kept_in(entry, options)) } == false

        record = copy_of(entry, asked, texts_of(options), options)
        stored = record && store_record(key, record, now_ms, options)
        # Under a lease of the remote store the owner checks that store for changes.
        @remote.change(:delete, [key]) { @remote.delete_multi([key]) } unless stored || decides?(lease.far)
        tell(:keys, [key])
        stored ? true : false
      end

      # Entries'.
      def delete_entry(key, **)
        return super unless @remote

        deleted(:delete_entry, [key], -> { super }) { @remote.delete_multi([key]).positive? }
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
        refuse_tags(options)
        key = normalize_key(name, options)
        instrument(operation, instrumented_key(name, key), amount: amount) do
          failsafe(operation) do
            number = Integer(amount)
            counted(key, number) { @remote.count(operation, key, number, options) if ready? }
          end
        end
      end

      # Of what a counter replaces when it begins there may be copies, of a counter of a server none.
      def counted(key, amount)
        count = yield
      ensure
        drop_copies([key])
        tell(:keys, [key]) unless @remote.raw_counters? && count && count.abs > amount.abs
      end

      # Changes the remote store, and removes copies, also if that failed.
      def changed(*keys)
        yield
      ensure
        drop_copies(keys)
        tell(:keys, keys)
      end

      # @return [Float, nil] seconds for which the remote store has to keep the entry
      def kept_in(entry, options)
        return unless entry.expires_at
        return entry.expires_at - now if options[:raw] # the bytes have no expiry of their own

        windows = StaleServing::LENGTHS.filter_map { |name| options[name]&.to_f }
        windows << RACE if options[:race_condition_ttl]
        entry.expires_at - now + windows.max.to_f
      end
    end
  end
end
