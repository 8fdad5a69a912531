# frozen_string_literal: true

# Single flight among machines that share a remote store.

require "securerandom"
require "larder/store/two_levels/remote_lease/scripts"
require "larder/store/two_levels/remote_lease/steps"

module Larder
  module Store
    class TwoLevels
      # The caller that has the lease of a key on its machine takes one in the remote store, too: an entry that ends
      # after `lease:`. A caller that does not get it polls for the value, or until the owner counts as dead: at once
      # where the owner was of the same machine, as its lease there has ended, and otherwise after some seconds without
      # a beat ({Remote::Heartbeat}). Then one of those that wait takes the lease over.
      #
      # A delete of the key ends the lease, and the owner's value is not stored. A value that another caller writes is
      # not replaced by the owner's. {Scripts} and {Steps} do that in the remote store.
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

        # @param key [String]
        # @param lease [String] its text
        # @return [String] the key of the entry with the beats of the lease's owner
        def self.beat_key(key, lease)
          "#{Remote.lease_key(key)}/#{lease[%r{[^/]*\z}]}"
        end

        # Takes leases of several keys by one call, where the remote store runs scripts. Otherwise each machine
        # computes.
        #
        # @param levels [TwoLevels]
        # @param flights [Hash{Call=>Flight}]
        # @yieldparam flights [Hash{Call=>Flight}] of the values that are to be computed. They are stored when it
        #   returns
        # @return [Hash{Object=>Object}] by name, the values that other machines have stored
        def self.across_many(levels, flights)
          leases = flights.filter_map { |call, flight| new(levels, call, flight) if flight.token }
          leases = take_all(levels, leases)
          found = levels.failsafe.guard(:fetch, returning: {}) { find_all(levels, leases) }
          own = leases.select(&:taken?) - found.keys
          beating(levels, own) { yield flights.except(*(leases - own).map(&:call)) }
          found.to_h { |lease, entry| [lease.call.name, entry.value] }
        ensure
          end_all(levels, leases) if leases
        end

        # @return [Array<RemoteLease>] those whose owners are known. Values of the others are computed without leases
        def self.take_all(levels, leases)
          scripted = leases.select(&:scripted?)
          levels.failsafe.ask(:fetch) { Scripts.take_all(levels.remote, scripted.to_h(&:wanted)) } if scripted.any?
          scripted.select { |lease| lease.lease.known? }
        end

        # Gives the owners' signs of life while the block runs.
        def self.beating(levels, leases, &block)
          return yield if leases.empty?

          leases.each(&:fly)
          beats = leases.map { |lease| beat_key(lease.key, lease.text) }
          levels.remote.heartbeat.while_running(beats, leases.first.method(:report_beat), &block)
        end

        # The values that other machines have stored. This one keeps copies of them for those who wait here.
        #
        # @param leases [Array<RemoteLease>] with the same options
        # @return [Hash{RemoteLease=>ActiveSupport::Cache::Entry}]
        def self.find_all(levels, leases)
          entries = leases.to_h { |lease| [lease.key, lease.lease.entry] }.compact
          return {} if entries.empty?

          names = levels.tags.open(entries)
          levels.back_offs.apply(entries, leases.first.call)
          leases.filter_map { |lease| (entry = lease.landed(entries, names)) && [lease, entry] }.to_h
        end

        # Stores values of several keys by one call, where the remote store runs scripts.
        #
        # @param entries [Hash{Object=>ActiveSupport::Cache::Entry}] by {Scripts} or {Steps}
        # @param kept_in [Float, nil] seconds
        # @return [Hash{Object=>Boolean}] was it stored?
        # @raise [RemoteError]
        def self.write_all(remote, entries, kept_in)
          together, others = entries.partition { |lease, _| lease.is_a?(Scripts) && lease.taken? }
          others.to_h { |lease, entry| [lease, lease.write(entry, kept_in)] }
                .update(Scripts.write_all(remote, together.to_h, kept_in))
        end

        # @return [void]
        def self.end_all(levels, leases)
          left = leases.select(&:taken?).map(&:lease)
          levels.failsafe.guard(:fetch) do
            Scripts.end_all(levels.remote, left) if left.any? && levels.remote.outbox.ready?
          end
        end
        private_class_method :take_all, :beating, :end_all

        # @return [Call]
        attr_reader :call
        # @return [String]
        attr_reader :key
        # @return [String]
        attr_reader :text
        # @return [Scripts, Steps]
        attr_reader :lease

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
          @process = Process.pid
          @seconds = Flights.seconds(@key, call.lease)
          @text = "#{@remote.outbox.machine}/#{SecureRandom.hex(8)}"
          kind = @remote.scripted_leases.usable? ? Scripts : Steps
          @lease = kind.new(levels, @key, @text, raw: call.options[:raw])
        end

        # Answers the value of another machine, or yields to compute it: true, if it is stored. AGAIN means that the
        # lease in the file has ended, so another caller of this machine may have the next one.
        #
        # @param deadline [Float] until when this call may wait, by the monotonic clock
        def run(deadline)
          joined = true # for all that is known if this is interrupted
          joined, found = join(deadline)
          return AGAIN if joined == :again || (joined == true && ended_early?)

          leased = joined == true && @lease.taken?
          # Another machine may have stored the value since it was missed here.
          found ||= @failsafe.guard(:fetch) { find } if leased
          return found.value if found
          return yield(joined != :alone) unless leased

          @flight&.remote = @lease
          @remote.heartbeat.while_running([RemoteLease.beat_key(@key, @text)], method(:report_beat)) { yield true }
        ensure
          give_up if joined == true && @lease.taken?
        end

        # Takes the lease from whichever caller has it, and replaces the entry, unless another caller changes the key at
        # the same moment.
        #
        # @yieldparam entry [ActiveSupport::Cache::Entry, nil]
        # @yieldreturn [Array(ActiveSupport::Cache::Entry, Float), nil] the next one, and seconds to keep it; nil: none
        # @return [Boolean] was it replaced?
        # @raise [RemoteError]
        def replace
          held = @lease.current unless take
          @lease.take_over(held, @seconds) if held
          entry, kept_in = yield @lease.entry if taken?
          entry ? @lease.write(entry, kept_in) : false
        ensure
          @lease.give_up if taken?
        end

        # @return [Boolean] has this caller the lease, for all that is known? A forked child has none of its parent's
        def taken?
          @lease.taken? && @process == Process.pid
        end

        # @return [Boolean]
        def scripted?
          @lease.is_a?(Scripts)
        end

        # ---- for leases of several keys ----

        # @api private
        # @return [Array(Scripts, Float)] the lease and its seconds
        def wanted
          [@lease, @seconds]
        end

        # @api private
        # @return [void]
        def fly
          @flight.remote = @lease
        end

        # @api private
        # @param entries [Hash{String=>ActiveSupport::Cache::Entry}] that no tag has deleted, by key
        # @param names [Hash{String=>Array<String>}] their tags
        # @return [ActiveSupport::Cache::Entry, nil] if it is the answer
        def landed(entries, names)
          entry = entries[@key]
          return if entry.nil? || entry.expired? || entry.mismatched?(@call.version)

          texts = TagTexts.of(names[@key], @call.prefix)
          @levels.copies.keep_in_flight(@key, entry, @lease.asked, texts, @call, @flight) if @flight&.token
          entry
        end

        # @api private
        # A thread of its own calls it, so it does not raise.
        def report_beat(error)
          @failsafe.handler_raises?(:fetch, nil, error)
        end

        private

        # @return [Array] true: the lease is taken; nil and an entry; :again: the lease in the file has ended; :alone:
        #   waited as long as it may; or nothing, as the remote store does not answer
        def join(deadline)
          @failsafe.guard(:fetch) do
            look_at_owner = 0
            until take
              found = find
              return [nil, found] if found

              if monotonic_now >= look_at_owner
                return [true] if take_over

                look_at_owner = monotonic_now + LOOK_AT_OWNER
              end
              return [:alone] unless SingleFlight.may_wait?(@key, @flight) && monotonic_now < deadline

              sleep(LOOK)
              return [:again] if ended_early?
            end
            [true]
          end
        end

        # True if a change of the key has ended this caller's lease in the file, or the file was emptied. A value that
        # is computed now would not be stored.
        def ended_early?
          return false unless @flight&.token && @flight.age < @seconds

          @levels.lease_over?(@key, @flight.token, 0, false)
        end

        # @return [Boolean] has this caller the lease, or needs none?
        def take
          return true unless @remote.ask?(@key) # then each machine computes
          return true if @lease.take(@seconds)
          return false unless scripted? && !@remote.scripted_leases.usable?

          @lease = Steps.new(@levels, @key, @text, raw: @call.options[:raw]) # the script was refused
          @lease.take(@seconds)
        end

        # Takes the lease of an owner that is dead.
        #
        # @return [Boolean] has this caller the lease?
        def take_over
          held = @lease.current
          held && ownerless?(held) ? @lease.take_over(held, @seconds) : false
        end

        # The lease of this caller in the file says that no other one of its machine is at work.
        def ownerless?(held)
          held.start_with?("#{@remote.outbox.machine}/") ||
            @remote.heartbeat.silent?(held) { @remote.read(RemoteLease.beat_key(@key, held))&.value }
        end

        def find
          RemoteLease.find_all(@levels, [self])[self]
        end

        def give_up
          @failsafe.ask(:fetch) { @lease.give_up if taken? }
        end
      end
    end
  end
end
