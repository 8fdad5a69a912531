# frozen_string_literal: true

# A lease in a remote store that runs no scripts.

module Larder
  module Store
    class TwoLevels
      class RemoteLease
        # It is an entry that is written only where there is none. The owner checks it before and after it stores the
        # value, and deletes the value if the lease has ended or another caller has taken it over. Where there was no
        # value, the remote store takes the owner's only if there is still none. An old value is read again just before
        # it is replaced.
        # @api private
        class Steps
          # @return [String]
          attr_reader :key
          # @return [Copies::Asked] the moment before the entry was read
          attr_reader :asked
          # @return [Boolean] has this caller the lease?
          attr_reader :taken
          alias taken? taken

          # @param levels [TwoLevels]
          # @param key [String]
          # @param text [String] of the lease
          # @param raw [Boolean, nil] is the entry raw?
          def initialize(levels, key, text, raw: false)
            @levels = levels
            @remote = levels.remote
            @key = key
            @lease_key = Remote.lease_key(key)
            @text = text
            @raw = raw
            @taken = @stored = false
            @old = nil # what was there when it was taken, and had expired or was of another version
          end

          # @param seconds [Float]
          # @return [Boolean] has this caller the lease?
          def take(seconds, terms = { unless_exist: true })
            entry = ActiveSupport::Cache::Entry.new(@text, expires_in: seconds) # for a store that keeps expired entries
            @taken = true # for all that is known if this is interrupted
            @taken = @remote.write(@lease_key, entry, seconds, terms)
          end

          # @return [String, nil] the text of the lease that the remote store has
          def current
            @remote.read(@lease_key)&.value&.to_s
          end

          # Takes the lease of a dead owner. If several callers find this out at the same time, the one that writes the
          # entry of the lease's heir does it. The dead lease is replaced: if its owner was only stopped, it finds
          # another lease than its own, and does not store its value.
          #
          # @return [Boolean] has this caller the lease?
          def take_over(held, seconds)
            heir = ActiveSupport::Cache::Entry.new(@text, expires_in: Remote::Heartbeat::SILENCE)
            terms = [Remote::Heartbeat::SILENCE, { unless_exist: true }]
            @remote.write("#{RemoteLease.beat_key(@key, held)}/heir", heir, *terms) && current == held &&
              take(seconds, {})
          end

          # @return [ActiveSupport::Cache::Entry, nil]
          def entry
            @asked = @levels.asked
            @old = @remote.read(@key, raw: @raw)
          end

          # @return [Boolean] was it stored?
          # @raise [RemoteError]
          def write(entry, kept_in)
            return false unless held?

            @stored = true # for all that is known if this is interrupted
            terms = { raw: @raw }.compact
            @stored = (@old.nil? && @remote.write(@key, entry, kept_in, { **terms, unless_exist: true })) ||
                      (replaceable? && @remote.write(@key, entry, kept_in, terms))
          end

          # @return [Boolean] does this lease say whether another caller has changed the key?
          def decides?
            @stored && @old.nil? && @remote.ends_leases?
          end

          # Unless it has ended, and another machine has one. A value that was stored after that, or for all that is
          # known, is deleted, too.
          #
          # @return [void]
          # @raise [RemoteError]
          def give_up
            if held? then @remote.delete(@lease_key)
            elsif @stored then @levels.delete(@key)
            end
          rescue RemoteError
            @remote.outbox.note(:delete, [@key]) if @stored
            raise
          end

          private

          def held?
            current == @text
          end

          # True if the remote store has still the old value, or bytes that cannot be read.
          def replaceable?
            entry = @remote.read(@key, raw: @raw)
            return entry.nil? && @old.nil? unless entry && @old

            identity_of(entry) == identity_of(@old)
          end

          def identity_of(entry)
            [entry.expires_at, entry.version]
          end
        end
      end
    end
  end
end
