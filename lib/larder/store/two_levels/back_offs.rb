# frozen_string_literal: true

# After an error of a block, all machines that share a remote store serve the old value for a while.

module Larder
  module Store
    class TwoLevels
      # Without a remote store the file's old value counts as fresh for {LocalLevel::BACK_OFF} seconds. With one, the
      # file may not have it, and other machines have to know of the error. So the back-off is a record of its own in
      # the file and in the remote store. It names the old value by the time at which that expired. A delete or a write
      # of the key ends the back-off, as there is no old value then, or another one.
      # @api private
      class BackOffs
        Entry = ActiveSupport::Cache::Entry
        # In the remote store the key of the record is that of the entry with this suffix.
        SUFFIX = "/larder/back-off"
        # In the file it is a note.
        KIND = "back-off"
        # When the old value expired, and when the back-off ends, in Unix seconds.
        FORMAT = "GG"
        private_constant :Entry, :SUFFIX, :KIND, :FORMAT

        # @param notes [Notes]
        # @param remote [Remote::Client]
        # @param failsafe [Failsafe]
        # @yieldparam key [String]
        # @yieldreturn [String] the key, short enough for the store
        def initialize(notes, remote, failsafe, &shorten)
          @notes = notes
          @remote = remote
          @failsafe = failsafe
          @shorten = shorten
        end

        # @param entry [ActiveSupport::Cache::Entry] the old value
        # @yieldreturn [Boolean] may the remote store be asked?
        # @return [void]
        def begin(key, entry)
          bytes = [entry.expires_at, Clock.now + LocalLevel::BACK_OFF].pack(FORMAT)
          keep(key, bytes, LocalLevel::BACK_OFF)
          @failsafe.guard(:write_entry) do
            far = Entry.new(bytes, expires_in: LocalLevel::BACK_OFF)
            @remote.write(key_of(key), far, LocalLevel::BACK_OFF) if yield
          end
        end

        # @param entry [ActiveSupport::Cache::Entry] the old value
        # @return [Boolean] is there one?
        def any?(key, entry)
          entries = { key => entry }
          kept(entries).any? || remote(entries).any?
        end

        # Makes those entries fresh whose blocks must not run for a while.
        #
        # @param entries [Hash{String=>ActiveSupport::Cache::Entry}] by key
        # @param call [Call]
        # @param ask [Boolean] is the remote store asked? Only for values that nothing but an error makes the answer
        # @return [Hash{String=>ActiveSupport::Cache::Entry}] the same
        def apply(entries, call, ask: true)
          return entries unless call.keeps?

          error, always = call.options[:stale_if_error], call.options[:stale_while_revalidate]
          old = entries.select { |_, entry| entry.expired? && (within?(entry, error) || within?(entry, always)) }
          return entries if old.empty?

          ends = kept(old)
          asked = old.except(*ends.keys).reject { |_, entry| within?(entry, always) }
          ends.update(remote(asked)) if ask && asked.any?
          ends.each { |key, at| entries[key] = fresh_until(at, entries[key]) }
          entries
        end

        private

        def within?(entry, seconds)
          Call.within?(entry, seconds)
        end

        def fresh_until(time, entry)
          Entry.new(entry.value, expires_at: time, version: entry.version)
        end

        # @return [Hash{String=>Float}] ends of the back-offs that the file has, by key
        def kept(entries)
          ends_of(entries, @failsafe.guard(:read_entry) { @notes.read(KIND, entries.keys) })
        end

        # As {#kept}, for the remote store. The file has them then, too.
        def remote(entries)
          names = entries.keys.to_h { |key| [key, key_of(key)] }
          found = @failsafe.ask(:read_entry) { @remote.entries_of(@remote.read_multi(names.values)) }
          ends_of(entries, found && names.transform_values { |name| found[name]&.value })
            .each { |key, ends| keep(key, [entries[key].expires_at, ends].pack(FORMAT), ends - Clock.now) }
        end

        # @param found [Hash{String=>Object}, nil] what was stored, by key; nil: it could not be read
        def ends_of(entries, found)
          ends = found ? entries.to_h { |key, entry| [key, end_of(found[key], entry)] } : {}
          ends.compact
        end

        # @return [Float, nil] nil: it is of another value, or over, or of a clock that is far from this one
        def end_of(bytes, entry)
          return unless bytes.is_a?(String)

          expired_at, ends = bytes.unpack(FORMAT)
          now = Clock.now
          ends if expired_at == entry.expires_at && ends&.between?(now, now + (2 * LocalLevel::BACK_OFF))
        end

        def keep(key, bytes, seconds)
          return unless seconds.positive?

          @failsafe.guard(:write_entry) { @notes.write(KIND, { key => bytes }, [seconds, 0.001].max) }
        end

        def key_of(key)
          @shorten.call(key + SUFFIX)
        end
      end
    end
  end
end
