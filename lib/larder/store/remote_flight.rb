# frozen_string_literal: true

# Single flight among machines that share a remote store.

require "securerandom"

module Larder
  module Store
    # The caller that has the lease of a key on its machine takes one in the remote store, too: an entry that is written
    # only where there is none, and ends after `lease:`. A caller that does not get it waits until the value is there,
    # or until the owner counts as dead: at once where the owner was of the same machine, as its lease there has ended,
    # and otherwise after some seconds without a beat ({Remote::Heartbeat}). Then one of those that wait takes the lease
    # over.
    #
    # A delete of the key ends the lease. The owner checks its lease before and after it stores the value, and deletes
    # the value if the lease has ended or another caller has taken it over. A value that another caller writes is not
    # replaced by the owner's: where there was none, the remote store takes the owner's value only if there is still
    # none. An old value is read again just before it is replaced.
    # @api private
    module RemoteFlight
      # Seconds between two looks for the value.
      LOOK = 0.02
      # The same for the owner.
      LOOK_AT_OWNER = 0.5
      # A lease in the remote store.
      #
      # @!attribute text
      #   @return [String] its value
      # @!attribute taken
      #   @return [Boolean] has the remote store taken it?
      # @!attribute old
      #   @return [ActiveSupport::Cache::Entry, nil] what was there when it was taken, and had expired or was of another
      #     version
      # @!attribute stored
      #   @return [Boolean] was the value stored?
      Far = Struct.new(:text, :taken, :old, :stored)
      # The answer of a call that has to begin again.
      AGAIN = Object.new.freeze
      private_constant :LOOK, :LOOK_AT_OWNER, :AGAIN

      private

      # SingleFlight's.
      def fly(name, key, options, deadline)
        return super unless @remote

        loop do
          answer = super(name, key, options, deadline) do |stores|
            stores ? fly_far(name, key, options, deadline) { |alone| yield !alone } : yield(false)
          end
          return answer unless answer.equal?(AGAIN)
        end
      end

      # SingleFlight's. In the file alone: a call of the remote store takes and ends a lease of the key itself, so that
      # this caller could never take it over.
      def found_value(name, key, options)
        return super unless @remote
        return unless trusted?

        landed(value_of(file_entry(key), normalize_version(name, options)))
      end

      # Answers the value of another machine, or yields to compute it: true, if this caller is not to store it. AGAIN
      # means that its lease in the file has ended, so another caller of its machine may have the next one.
      def fly_far(name, key, options, deadline)
        far = Far.new("#{@remote.journal.machine}/#{SecureRandom.hex(8)}")
        taken = true # for all that is known if this is interrupted
        taken, found = join_far(name, key, options, far, deadline)
        return AGAIN if taken == :again || (taken == true && ended_early?(key, options))

        # Another machine may have stored the value since it was missed here.
        found ||= failsafe(:fetch) { found_far(name, key, options, far) if @remote.ready? } if taken == true
        return found.value if found
        return yield(taken == :alone) unless taken == true && far.taken

        Leases.of(@records, key)&.far = far
        @remote.heartbeat.while_running(beat_key(key, far.text), method(:report_beat)) { yield(false) }
      ensure
        give_up_far(key, far) if taken == true
      end

      # A call in another thread, so it does not raise.
      def report_beat(error)
        raised_by_handler?(:fetch, nil, error)
      end

      # @return [Array] true: the lease is taken; nil and an entry; :again: the lease in the file has ended; :alone:
      #   waited as long as it may; or nothing, as the remote store does not answer
      def join_far(name, key, options, far, deadline)
        failsafe(:fetch) do
          look_at_owner = monotonic_now
          until take_far(key, options, far)
            if monotonic_now >= look_at_owner
              return [true] if take_over_far(key, options, far)

              look_at_owner = monotonic_now + LOOK_AT_OWNER
            end
            return [:alone] unless may_await?(key, Leases.of(@records, key)) && monotonic_now < deadline

            sleep(LOOK)
            found = found_far(name, key, options, far)
            return [nil, found] if found
            return [:again] if ended_early?(key, options)
          end
          [true]
        end
      end

      # True if a change of the key has ended this caller's lease in the file, or the file was emptied. A value that is
      # computed now would not be stored.
      def ended_early?(key, options)
        lease = Leases.of(@records, key)
        seconds = Leases.seconds(key, lease_seconds(options))
        return false unless lease&.bytes && monotonic_now < lease.since + seconds

        failsafe(:fetch, returning: false) { @records.lease_wait(key, lease.bytes, 0, now_ms) }
      end

      # @param terms [Hash] unless_exist
      # @return [Boolean] has this caller the lease?
      def take_far(key, options, far, terms = { unless_exist: true })
        return true unless ready? # then each machine computes

        seconds = Leases.seconds(key, lease_seconds(options))
        entry = ActiveSupport::Cache::Entry.new(far.text, expires_in: seconds) # for a store that keeps what has expired
        far.taken = true # for all that is known if this is interrupted
        far.taken = @remote.write(Remote.lease_key(key), entry, seconds, terms)
      end

      # Takes the lease of an owner that is dead. If several callers find this out at the same time, the one that writes
      # the entry of the lease's heir does it. The dead lease is replaced: if its owner was only stopped, it
      # finds another lease than its own, and does not store its value.
      #
      # @return [Boolean] has this caller the lease?
      def take_over_far(key, options, far)
        held = far_lease(key)
        return false unless held && ownerless?(key, held)

        heir = ActiveSupport::Cache::Entry.new(far.text, expires_in: Remote::Heartbeat::SILENCE)
        terms = [Remote::Heartbeat::SILENCE, { unless_exist: true }]
        @remote.write("#{beat_key(key, held)}/heir", heir, *terms) && far_lease(key) == held &&
          take_far(key, options, far, {})
      end

      # The lease of this caller in the file says that no other one of its machine is at work.
      def ownerless?(key, held)
        held.start_with?("#{@remote.journal.machine}/") ||
          @remote.heartbeat.silent?(held) { @remote.read(beat_key(key, held))&.value }
      end

      # @return [String, nil] the text of the lease that the remote store has
      def far_lease(key)
        @remote.read(Remote.lease_key(key))&.value&.to_s
      end

      def beat_key(key, lease)
        "#{Remote.lease_key(key)}/#{lease[%r{[^/]*\z}]}"
      end

      # RemoteChanges'. Stores the value under a lease of this machine, and of the remote store if that has one.
      #
      # @return [Boolean] was it stored?
      def write_far_leased(lease, key, entry, kept_in)
        far = lease.far
        return @remote.write(key, entry, kept_in) unless far&.taken
        return false unless held?(key, far)

        far.stored = true # for all that is known if this is interrupted
        far.stored = (far.old.nil? && @remote.write(key, entry, kept_in, unless_exist: true)) ||
                     (replaceable?(key, far) && @remote.write(key, entry, kept_in))
      end

      # True if the remote store has still the old value, or bytes that cannot be read.
      def replaceable?(key, far)
        entry = @remote.read(key)
        entry.nil? || (!far.old.nil? && identity_of(entry) == identity_of(far.old))
      end

      def identity_of(entry)
        [entry.expires_at, entry.version]
      end

      # Does the lease of the remote store say whether another caller has changed the key?
      def decides?(far)
        far&.stored && far.old.nil? && @remote.ends_leases?
      end

      def held?(key, far)
        far_lease(key) == far.text
      end

      # The value that another machine has stored, of which this one keeps a copy for those who wait here.
      def found_far(name, key, options, far)
        asked = ask
        entry = @remote.read(key)
        far.old = entry
        entries = entry ? { key => entry } : {}
        tags = open_entries(entries)[key]
        entry = with_back_offs(entries, options)[key]
        return if entry.nil? || entry.expired? || entry.mismatched?(normalize_version(name, options))

        record = copy_of(entry, asked, texts_of({ namespace: options[:namespace], tags: tags }), options)
        store_record(key, record, now_ms, options) if record && Leases.of(@records, key)&.bytes
        entry
      end

      # Unless it has ended, and another machine has one. A value that was stored after that, or for all that is known,
      # is deleted, too.
      def give_up_far(key, far)
        failsafe(:fetch) do
          next unless far.taken && @remote.ready?

          if held?(key, far) then @remote.delete(Remote.lease_key(key))
          elsif far.stored then delete_entry(key)
          end
        rescue RemoteError
          @remote.journal.note(:delete, [key]) if far.stored
          raise
        end
      end
    end
  end
end
