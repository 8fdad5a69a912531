# frozen_string_literal: true

# A lease in a remote store that runs scripts.

module Larder
  module Store
    class TwoLevels
      class RemoteLease
        # One call takes it and reads the entry. Another one stores the value if the lease has not ended and the entry
        # is what it was then, and ends the lease, at the same moment. So there is nothing to check afterwards.
        # @api private
        class Scripts
          # Seconds after which a client may have repeated a call. The first attempt may arrive later, when a delete has
          # ended the lease, and would bring it back. So another lease replaces it at once.
          SLOW = 0.3
          private_constant :SLOW

          # Takes leases of several keys by one call.
          #
          # @param remote [Remote::Client]
          # @param leases [Hash{Scripts=>Float}] with their seconds
          # @return [void]
          # @raise [RemoteError]
          def self.take_all(remote, leases)
            since = Process.clock_gettime(Process::CLOCK_MONOTONIC)
            ask(remote, leases.to_h { |lease, seconds| [lease, lease.wanted(seconds)] })
            taken = leases.select { |lease, _| lease.taken? }
            return if taken.empty? || Process.clock_gettime(Process::CLOCK_MONOTONIC) - since <= SLOW

            ask(remote, taken.to_h { |lease, seconds| [lease, lease.wanted(seconds, lease.bytes)] })
          end

          def self.ask(remote, wanted)
            answers = remote.scripted_leases.take(wanted.transform_keys(&:key))
            wanted.each_key { |lease| lease.answered(*answers && answers[lease.key]) }
          end
          private_class_method :ask

          # Stores values of several keys by one call.
          #
          # @param remote [Remote::Client]
          # @param entries [Hash{Scripts=>ActiveSupport::Cache::Entry}]
          # @param kept_in [Float, nil] seconds
          # @return [Hash{Scripts=>Boolean}] was it stored?
          # @raise [RemoteError]
          def self.write_all(remote, entries, kept_in)
            return {} if entries.empty?

            writes = entries.to_h { |lease, entry| [lease.key, lease.write_of(entry, kept_in)] }
            answers = remote.scripted_leases.write(writes) || {}
            entries.to_h { |lease, _| [lease, lease.written(answers[lease.key] || false)] }
          end

          # Ends leases of several keys by one call.
          #
          # @param remote [Remote::Client]
          # @param leases [Array<Scripts>]
          # @return [void]
          # @raise [RemoteError]
          def self.end_all(remote, leases)
            left = leases.select(&:taken?)
            remote.scripted_leases.end_all(left.to_h { |lease| [lease.key, lease.bytes] }) if left.any?
          end

          # @return [String]
          attr_reader :key
          # @return [String] as the remote store has it
          attr_reader :bytes
          # @return [Copies::Asked] the moment before the entry was read
          attr_reader :asked
          # @return [Boolean] has this caller the lease, for all that is known?
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
            @text = text
            @raw = raw
            @taken = @stored = false
            @held = @old = @dead = nil
          end

          # @return [Boolean] has this caller the lease?
          def take(seconds)
            Scripts.take_all(@remote, { self => seconds })
            @taken
          end

          # @return [Boolean] false: the remote store has not said who has the lease, as it must not be asked for the
          #   key, does not answer, or refuses the script
          def known?
            !@held.nil?
          end

          # @return [String, nil] the text of the lease that the remote store had when this one was tried to take
          def current
            @remote.scripted_leases.load(@held)&.value&.to_s
          end

          # Takes the lease of a dead owner, if that is still there.
          #
          # @return [Boolean] has this caller the lease?
          def take_over(_held, seconds)
            @dead = @held
            take(seconds)
          ensure
            @dead = nil
          end

          # @return [ActiveSupport::Cache::Entry, nil] of when the lease was taken, or tried to take
          def entry
            @remote.scripted_leases.load(@old, raw: @raw)
          end

          # @return [Boolean] was it stored?
          # @raise [RemoteError]
          def write(entry, kept_in)
            return false unless @taken # it was given up, or has stored a value

            answers = @remote.scripted_leases.write({ @key => write_of(entry, kept_in) })
            written(answers ? answers[@key] : false)
          end

          # @return [Boolean] does this lease say whether another caller has changed the key?
          def decides?
            @stored
          end

          # @return [void]
          # @raise [RemoteError]
          def give_up
            Scripts.end_all(@remote, [self]) if @remote.outbox.ready?
          end

          # @api private
          # @return [Array] as of Remote::ScriptedLeases#take
          def wanted(seconds, dead = nil)
            @asked = @levels.asked
            @bytes = @remote.scripted_leases.dump(@text, seconds)
            @taken = true # for all that is known if this is interrupted
            [@bytes, seconds, dead || @dead]
          end

          # @api private
          # @param held [String, nil] bytes of the lease that is there; nil: none was asked for
          # @param old [String, nil] bytes of the entry
          # @return [Boolean] has this caller the lease?
          def answered(held = nil, old = nil)
            @held, @old = held, old
            @taken = held == @bytes
          end

          # @api private
          # @return [Array] as of Remote::ScriptedLeases#write
          def write_of(entry, kept_in)
            [@bytes, entry, kept_in, @old, @raw]
          end

          # @api private
          # @return [Boolean] the given
          def written(stored)
            @taken = false # it has ended
            @stored = stored
          end
        end
      end
    end
  end
end
