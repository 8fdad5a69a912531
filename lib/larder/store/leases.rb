# frozen_string_literal: true

# The leases that threads of this process hold.

require "concurrent/map"
require "larder/store/monotonic_clock"

module Larder
  module Store
    # A lease is the right to compute the value of a key (see SingleFlight). The thread that took it holds it until it
    # has stored the value or given up. The list is each thread's own, so it needs no lock.
    # @api private
    module Leases
      # @!attribute records
      #   @return [Records] of the file that has the lease
      # @!attribute key
      #   @return [String] the key in the file
      # @!attribute token
      #   @return [String, nil] as Records#lease answered; nil: it is another caller's
      # @!attribute fiber
      #   @return [Fiber] that took it
      # @!attribute process
      #   @return [Integer] the id of the process that took it: a forked child copies the list, but holds nothing
      # @!attribute since
      #   @return [Float] seconds of the monotonic clock
      # @!attribute option
      #   @return [Symbol, nil] the option of the `read` that took it; nil: it was taken by a call with a block
      # @!attribute seconds
      #   @return [Float, nil] for which that `read` took it; nil: it ends with its block
      # @!attribute far
      #   @return [RemoteFlight::Far, nil] that of the remote store
      Lease = Struct.new(:records, :key, :token, :fiber, :process, :since, :option, :seconds, :far) do
        # nil also for the lease of the process that forked this one.
        def bytes
          token if own?
        end

        def own?
          process == Process.pid
        end

        # True if it has certainly ended by its time. The lease in the file began before `since`.
        def over?
          !seconds.nil? && Process.clock_gettime(Process::CLOCK_MONOTONIC) > since + seconds
        end
      end

      VARIABLE = :larder_leases
      NONE = [].freeze
      # Keys whose blocks took longer than their leases, and for how many seconds.
      OVERRUNS = Concurrent::Map.new
      MOST_OVERRUNS = 100
      private_constant :VARIABLE, :NONE, :OVERRUNS, :MOST_OVERRUNS

      class << self
        include MonotonicClock

        # @return [Array<Lease>] those of this thread
        def held
          listed.empty? || listed.first.own? ? listed : listed.select(&:own?)
        end

        # @param bytes [String, nil] nil: another caller has the lease, and what this thread computes is not stored
        # @param option [Symbol, nil] that of a `read`
        # @param seconds [Float, nil] how long the `read` took it for
        # @return [Lease]
        def hold(records, key, bytes, option = nil, seconds = nil)
          lease = Lease.new(records, key.dup.freeze, bytes, Fiber.current, Process.pid, monotonic_now, option, seconds)
          replace(listed + [lease])
          lease
        end

        # @return [Boolean] does this thread hold any, or has it those of the process that forked this one?
        def any?
          !listed.empty?
        end

        # @return [Lease, nil] this thread's lease of a key; or of the process that forked this one while it computed
        #   the value: then what this one makes of it is not stored
        def of(records, key)
          all_of(records, key).last
        end

        # @return [Array<Lease>] the same, and earlier ones of the key: of reads whose writes have not come
        def all_of(records, key)
          listed.select { |lease| lease.key == key && lease.records.equal?(records) }
        end

        # A value that took longer than its lease was not stored if another caller has the next one, and might never be.
        # So this process takes the next lease of the key for twice as long.
        #
        # @param seconds [Float] for which it was taken
        def note_overrun(lease, seconds)
          took = monotonic_now - lease.since
          return if took < seconds

          OVERRUNS.delete(OVERRUNS.keys.first) if OVERRUNS.size >= MOST_OVERRUNS
          OVERRUNS[lease.key] = took
        end

        # @return [Float] for how long a lease of the key is to be taken
        def seconds(key, given)
          return given if OVERRUNS.empty?

          (2 * (OVERRUNS[key] || 0)).clamp(given, Larder::Cache::MAX_TTL)
        end

        # Takes it off the list.
        #
        # @return [Boolean] was it there?
        def drop(lease)
          rest = listed.reject { |other| other.equal?(lease) }
          return false if rest.size == listed.size

          replace(rest)
          true
        end

        # Ends a lease whose value was not stored, so that others need not wait. If the file cannot be reached, it ends
        # by itself.
        #
        # @param fresh [Integer] seconds for which the old value counts as fresh
        def give_up(lease, now_ms = nil, fresh = 0)
          lease.records.lease_end(lease.key, lease.bytes, fresh * 1000, now_ms) if drop(lease) && lease.bytes
        rescue Larder::Error
          false
        end

        # The same for all leases of this thread.
        def give_up_all
          held.each { |lease| give_up(lease) }
        end

        private

        def listed
          Thread.current.thread_variable_get(VARIABLE) || NONE
        end

        # Tells the fast path how many are held by all threads. A thread that died with some, also in a fork, leaves the
        # number too high, which makes writes with single_flight slower, and nothing else.
        def replace(list)
          @count = (@count || 0) + list.size - listed.size
          Thread.current.thread_variable_set(VARIABLE, list)
          FastPath.send(:_leases_held, @count)
        end
      end
    end
  end
end
