# frozen_string_literal: true

# The leases that threads of this process hold.

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
      # @!attribute bytes
      #   @return [String, nil] as Records#lease answered; nil: it is another caller's
      # @!attribute fiber
      #   @return [Fiber] that took it
      # @!attribute process
      #   @return [Integer] the id of the process that took it: a forked child copies the list, but holds nothing
      Lease = Struct.new(:records, :key, :bytes, :fiber, :process)

      VARIABLE = :larder_leases
      NONE = [].freeze
      private_constant :VARIABLE, :NONE

      class << self
        # @return [Array<Lease>] those of this thread
        def held
          held = Thread.current.thread_variable_get(VARIABLE) || NONE
          held.empty? || held.first.process == Process.pid ? held : forget
        end

        # @param bytes [String, nil] nil: another caller has the lease, and what this thread computes is not stored
        # @return [Lease]
        def hold(records, key, bytes)
          lease = Lease.new(records, key.dup.freeze, bytes, Fiber.current, Process.pid)
          replace(held + [lease])
          lease
        end

        # @return [Lease, nil] this thread's lease of a key
        def of(records, key)
          held.find { |lease| lease.key == key && lease.records.equal?(records) }
        end

        # Takes it off the list.
        #
        # @return [Boolean] was it there?
        def drop(lease)
          rest = held.reject { |other| other.equal?(lease) }
          return false if rest.size == held.size

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

        # Tells the fast path how many are held by all threads. A thread that died with some leaves the number too
        # high, which makes writes with single_flight slower, and nothing else.
        def replace(list)
          @count = (@count || 0) + list.size - held.size
          Thread.current.thread_variable_set(VARIABLE, list)
          FastPath.send(:_leases_held, @count)
        end

        def forget
          @count = 0
          Thread.current.thread_variable_set(VARIABLE, NONE)
          FastPath.send(:_leases_held, 0)
          NONE
        end
      end
    end
  end
end
