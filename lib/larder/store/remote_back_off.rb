# frozen_string_literal: true

# After an error of a block, all machines that share a remote store serve the old value for a while.

module Larder
  module Store
    # Without a remote store the file's old value counts as fresh for {StaleServing::BACK_OFF} seconds. With one, the
    # file may not have it, and other machines have to know of the error. So the back-off is a record of its own in the
    # file and in the remote store. It names the old value by the time at which that expired. A delete or a write of the
    # key ends the back-off, as there is no old value then, or another one.
    # @api private
    module RemoteBackOff
      # The key of the record is that of the entry with this suffix.
      SUFFIX = "/larder/back-off"
      # When the old value expired, and when the back-off ends, in Unix seconds.
      FORMAT = "GG"
      private_constant :SUFFIX, :FORMAT

      private

      # StaleServing's.
      def keep_old(key, entry, options)
        return super unless @remote

        bytes = [entry.expires_at, now + StaleServing::BACK_OFF].pack(FORMAT)
        keep_back_off(key, bytes, StaleServing::BACK_OFF)
        failsafe(:write_entry) do
          far = ActiveSupport::Cache::Entry.new(bytes, expires_in: StaleServing::BACK_OFF)
          @remote.write(back_off_key(key), far, StaleServing::BACK_OFF) if ready?
        end
      end

      # StaleServing's. The lease does not make the file's old value fresh, which another machine may have replaced.
      def after_error(key, options, began)
        return super unless @remote

        back_off(key, options, began)
        0
      end

      # StaleServing's.
      def backs_off?(key, entry)
        return super unless @remote && entry&.expired?

        entries = { key => entry }
        kept_back_offs(entries).any? || far_back_offs(entries).any?
      end

      # Makes those entries fresh whose blocks must not run for a while.
      #
      # @param entries [Hash{String=>ActiveSupport::Cache::Entry}] by key
      # @param far [Boolean] is the remote store asked? Only for values that nothing but an error makes the answer
      # @return [Hash{String=>ActiveSupport::Cache::Entry}] the same
      def with_back_offs(entries, options, far: true)
        return entries unless keeps?(options)

        error, always = options.values_at(*StaleServing::LENGTHS.reverse)
        old = entries.select { |_, entry| entry.expired? && (within?(entry, error) || within?(entry, always)) }
        return entries if old.empty?

        ends = kept_back_offs(old)
        asked = old.except(*ends.keys).reject { |_, entry| within?(entry, always) }
        ends.update(far_back_offs(asked)) if far && asked.any?
        ends.each { |key, at| entries[key] = fresh_until(at, entries[key]) }
        entries
      end

      def fresh_until(time, entry)
        ActiveSupport::Cache::Entry.new(entry.value, expires_at: time, version: entry.version)
      end

      # @return [Hash{String=>Float}] ends of the back-offs that the file has, by key
      def kept_back_offs(entries)
        ends_of(entries) { |names| failsafe(:read_entry) { @cache.get_multi(names, now: now) } }
      end

      # As kept_back_offs, for the remote store. The file has them then, too.
      def far_back_offs(entries)
        ends_of(entries) do |names|
          found = asking(:read_entry, nil) { @remote.entries_of(@remote.read_multi(names)) }
          found&.transform_values(&:value)
        end.each { |key, ends| keep_back_off(key, [entries[key].expires_at, ends].pack(FORMAT), ends - now) }
      end

      # Yields keys of back-offs, for what they have.
      def ends_of(entries)
        names = entries.keys.to_h { |key| [key, back_off_key(key)] }
        found = yield(names.values) || {}
        names.transform_values { |name| found[name] }.filter_map do |key, bytes|
          ends = end_of(bytes, entries[key])
          [key, ends] if ends
        end.to_h
      end

      # @return [Float, nil] nil: it is of another value, or over, or of a clock that is far from this one
      def end_of(bytes, entry)
        return unless bytes.is_a?(String)

        expired_at, ends = bytes.unpack(FORMAT)
        ends if expired_at == entry.expires_at && ends&.between?(now, now + (2 * StaleServing::BACK_OFF))
      end

      def keep_back_off(key, bytes, seconds)
        return unless seconds.positive?

        failsafe(:write_entry) { @cache.set(back_off_key(key), bytes, ttl: [seconds, 0.001].max, now: now) }
      end

      def back_off_key(key)
        truncate_key(key + SUFFIX)
      end
    end
  end
end
