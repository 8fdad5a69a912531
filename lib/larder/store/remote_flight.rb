# frozen_string_literal: true

# Single flight among machines that share a remote store.

require "securerandom"

module Larder
  module Store
    # The caller that has the lease of a key on its machine takes one in the remote store, too: an entry that is written
    # only where there is none, and ends after `lease:`. Who does not get it waits until the value is there. Who finds
    # one of its own machine takes it over: that one was killed, as its lease on the machine has ended.
    # @api private
    module RemoteFlight
      # What the keys of leases begin with.
      KEY = "larder/lease/"
      # Seconds between two looks for the value.
      LOOK = 0.02
      private_constant :KEY, :LOOK

      private

      # SingleFlight's.
      def fly(name, key, options)
        return super unless @remote

        super { |stores| stores ? fly_far(name, key, options) { |alone| yield !alone } : yield(false) }
      end

      # SingleFlight's. In the file alone: a call of the remote store takes and ends a lease of the key itself, so that
      # this caller could never take it over.
      def found_value(name, key, options)
        return super unless @remote
        return unless trusted?

        landed(value_of(file_entry(key), normalize_version(name, options)))
      end

      # Answers the value of another machine, or yields to compute it: true, if this caller is not to store it.
      def fly_far(name, key, options)
        lease = "#{@remote.journal.machine}/#{SecureRandom.hex(8)}"
        taken = true # for all that is known if this is interrupted
        taken, found = join_far(name, key, options, lease)
        # Another machine may have stored the value since it was missed here.
        found ||= failsafe(:fetch) { found_far(name, key, options) if @remote.ready? } if taken == true
        found ? found.value : yield(taken == :alone)
      ensure
        give_up_far(key, lease) if taken == true
      end

      # @return [Array] true: the lease is taken; nil and an entry; :alone: waited as long as it may; or nothing, as the
      #   remote store does not answer
      def join_far(name, key, options, lease)
        deadline = monotonic_now + (options[:wait] || SingleFlight::WAIT).to_f
        failsafe(:fetch) do
          return [true] if take_at_first(key, options, lease)

          until take_far(key, options, lease)
            return [:alone] unless may_await?(key, Leases.of(@records, key)) && monotonic_now < deadline

            sleep(LOOK)
            found = found_far(name, key, options)
            return [nil, found] if found
          end
          [true]
        end
      end

      # @param terms [Hash] unless_exist
      # @return [Boolean] has this caller the lease?
      def take_far(key, options, lease, terms = { unless_exist: true })
        return true unless ready? # then each machine computes

        seconds = lease_seconds(options)
        entry = ActiveSupport::Cache::Entry.new(lease, expires_in: seconds) # for a store that keeps what has expired
        @remote.write(far_key(key), entry, seconds, terms)
      end

      # Takes the lease, also from one of this machine.
      def take_at_first(key, options, lease)
        return true if take_far(key, options, lease)

        held = @remote.read(far_key(key))&.value
        held.to_s.start_with?("#{@remote.journal.machine}/") && take_far(key, options, lease, {})
      end

      # The value that another machine has stored, of which this one keeps a copy for those who wait here.
      def found_far(name, key, options)
        asked = ask
        entry = @remote.read(key)
        entries = entry ? { key => entry } : {}
        tags = open_entries(entries)[key]
        entry = entries[key]
        return if entry.nil? || entry.expired? || entry.mismatched?(normalize_version(name, options))

        record = copy_of(entry, asked, texts_of({ namespace: options[:namespace], tags: tags }), options)
        store_record(key, record, now_ms, options) if record && Leases.of(@records, key)&.bytes
        entry
      end

      # Unless it has ended, and another machine has one.
      def give_up_far(key, lease)
        failsafe(:fetch) do
          @remote.delete(far_key(key)) if @remote.ready? && @remote.read(far_key(key))&.value == lease
        end
      end

      def far_key(key)
        @remote.own_key(KEY.b << key.b)
      end
    end
  end
end
