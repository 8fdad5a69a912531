# frozen_string_literal: true

# Single flight among machines that share a remote store.

require "securerandom"

module Larder
  module Store
    # The caller that has the lease of a key on its machine takes one in the remote store, too: an entry that is written
    # only where there is none, and ends after `lease:`. A caller that does not get it polls for the value, or until the
    # owner counts as dead: at once where the owner was of the same machine, as its lease there has ended, and otherwise
    # after some seconds without a beat ({Remote::Heartbeat}). Then one of those that wait takes the lease over.
    #
    # A delete of the key ends the lease. The owner checks its lease before and after it stores the value, and deletes
    # the value if the lease has ended or another caller has taken it over. A value that another caller writes is not
    # replaced by the owner's: where there was none, the remote store takes the owner's value only if there is still
    # none. An old value is read again just before it is replaced.
    # @api private
    class RemoteLease
      include MonotonicClock

      # Seconds between two looks for the value.
      LOOK = 0.02
      # The same for the owner.
      LOOK_AT_OWNER = 0.5
      # The answer of a call that has to begin again.
      AGAIN = Object.new.freeze
      private_constant :LOOK, :LOOK_AT_OWNER

      # @param levels [TwoLevels]
      # @param call [Call]
      # @param flight [Flight, nil] nil: no lease could be stored in the file
      def initialize(levels, call, flight)
        @levels = levels
        @remote = levels.remote
        @failsafe = levels.failsafe
        @call = call
        @key = call.key
        @flight = flight
        @text = "#{@remote.outbox.machine}/#{SecureRandom.hex(8)}"
        @taken = @stored = false
        @old = nil # what was there when it was taken, and had expired or was of another version
      end

      # Answers the value of another machine, or yields to compute it: true, if it is stored. AGAIN means that the lease
      # in the file has ended, so another caller of this machine may have the next one.
      #
      # @param deadline [Float] until when this call may wait, by the monotonic clock
      def run(deadline)
        joined = true # for all that is known if this is interrupted
        joined, found = join(deadline)
        return AGAIN if joined == :again || (joined == true && ended_early?)

        # Another machine may have stored the value since it was missed here.
        found ||= @failsafe.guard(:fetch) { find if @remote.outbox.ready? } if joined == true
        return found.value if found
        return yield(joined != :alone) unless joined == true && @taken

        @flight&.remote = self
        @remote.heartbeat.while_running(beat_key(@text), method(:report_beat)) { yield true }
      ensure
        give_up if joined == true
      end

      # Stores the value, if this lease has not ended.
      #
      # @return [Boolean] was it stored?
      # @raise [RemoteError]
      def write(entry, kept_in)
        return @remote.write(@key, entry, kept_in) unless @taken
        return false unless held?

        @stored = true # for all that is known if this is interrupted
        @stored = (@old.nil? && @remote.write(@key, entry, kept_in, unless_exist: true)) ||
                  (replaceable? && @remote.write(@key, entry, kept_in))
      end

      # @return [Boolean] true if this lease says whether another caller has changed the key
      def decides?
        @stored && @old.nil? && @remote.ends_leases?
      end

      private

      # A thread of its own calls it, so it does not raise.
      def report_beat(error)
        @failsafe.handler_raises?(:fetch, nil, error)
      end

      # @return [Array] true: the lease is taken; nil and an entry; :again: the lease in the file has ended; :alone:
      #   waited as long as it may; or nothing, as the remote store does not answer
      def join(deadline)
        @failsafe.guard(:fetch) do
          look_at_owner = monotonic_now
          until take
            if monotonic_now >= look_at_owner
              return [true] if take_over

              look_at_owner = monotonic_now + LOOK_AT_OWNER
            end
            return [:alone] unless SingleFlight.may_wait?(@key, @flight) && monotonic_now < deadline

            sleep(LOOK)
            found = find
            return [nil, found] if found
            return [:again] if ended_early?
          end
          [true]
        end
      end

      # True if a change of the key has ended this caller's lease in the file, or the file was emptied. A value that is
      # computed now would not be stored.
      def ended_early?
        return false unless @flight&.token && @flight.age < seconds

        @levels.lease_over?(@key, @flight.token, 0, false)
      end

      def seconds
        Flights.seconds(@key, @call.lease)
      end

      # @param terms [Hash] unless_exist
      # @return [Boolean] has this caller the lease?
      def take(terms = { unless_exist: true })
        return true unless @levels.ready? # then each machine computes

        entry = ActiveSupport::Cache::Entry.new(@text, expires_in: seconds) # for a store that keeps expired entries
        @taken = true # for all that is known if this is interrupted
        @taken = @remote.write(Remote.lease_key(@key), entry, seconds, terms)
      end

      # Takes the lease of an owner that is dead. If several callers find this out at the same time, the one that writes
      # the entry of the lease's heir does it. The dead lease is replaced: if its owner was only stopped, it
      # finds another lease than its own, and does not store its value.
      #
      # @return [Boolean] has this caller the lease?
      def take_over
        held = current
        return false unless held && ownerless?(held)

        heir = ActiveSupport::Cache::Entry.new(@text, expires_in: Remote::Heartbeat::SILENCE)
        terms = [Remote::Heartbeat::SILENCE, { unless_exist: true }]
        @remote.write("#{beat_key(held)}/heir", heir, *terms) && current == held && take({})
      end

      # The lease of this caller in the file says that no other one of its machine is at work.
      def ownerless?(held)
        held.start_with?("#{@remote.outbox.machine}/") ||
          @remote.heartbeat.silent?(held) { @remote.read(beat_key(held))&.value }
      end

      # @return [String, nil] the text of the lease that the remote store has
      def current
        @remote.read(Remote.lease_key(@key))&.value&.to_s
      end

      def beat_key(lease)
        "#{Remote.lease_key(@key)}/#{lease[%r{[^/]*\z}]}"
      end

      # True if the remote store has still the old value, or bytes that cannot be read.
      def replaceable?
        entry = @remote.read(@key)
        entry.nil? || (!@old.nil? && identity_of(entry) == identity_of(@old))
      end

      def identity_of(entry)
        [entry.expires_at, entry.version]
      end

      def held?
        current == @text
      end

      # The value that another machine has stored, of which this one keeps a copy for those who wait here.
      def find
        asked = @levels.asked
        entry = @remote.read(@key)
        @old = entry
        entries = entry ? { @key => entry } : {}
        names = @levels.tags.open(entries)[@key]
        entry = @levels.back_offs.apply(entries, @call)[@key]
        return if entry.nil? || entry.expired? || entry.mismatched?(@call.version)

        record = @levels.copies.record_of(entry, asked, TagTexts.of(names, @call.prefix), @call)
        @levels.local.store(@key, record, @flight, @call) if record && @flight&.token
        entry
      end

      # Unless it has ended, and another machine has one. A value that was stored after that, or for all that is known,
      # is deleted, too.
      def give_up
        @failsafe.guard(:fetch) do
          next unless @taken && @remote.outbox.ready?

          if held? then @remote.delete(Remote.lease_key(@key))
          elsif @stored then @levels.delete(@key)
          end
        rescue RemoteError
          @remote.outbox.note(:delete, [@key]) if @stored
          raise
        end
      end
    end
  end
end
