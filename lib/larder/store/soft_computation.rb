# frozen_string_literal: true

# Answers with an old value if the block of `fetch`, or the remote store, takes too long, and lets both go on.

require "larder/store/computation"
require "larder/store/soft_calls"

module Larder
  module Store
    # `soft_timeout:`, for calls that find a value which `stale_if_error:` allows to serve. The remote store is asked
    # and the block run in the pool of Refreshes. All waits of a call end at one deadline, which is computed at its
    # beginning.
    # @api private
    class SoftComputation
      include MonotonicClock

      # @param store [ActiveSupport::Cache::LarderStore]
      # @param call [Call]
      # @param block [Proc]
      def initialize(store, call, block)
        @store = store
        @level = store.level
        @records = @level.records
        @call = call
        @block = block
        @deadline = monotonic_now + call.options[:soft_timeout].to_f
      end

      # A whole `fetch` where the remote store may be slow, too.
      #
      # @return [Object] the value
      def fetch
        copy = old_copy
        return fetch_later unless copy
        return hit(@store.reading(@call) { used(copy) }) if !copy.expired? && @level.trusted?

        computing? ? serve(used(copy)) : fetch_soon(copy)
      end

      # After a miss in the file.
      #
      # @return [Object] the value
      def value
        old = old_copy
        return compute_hard unless old
        return serve_old(old) if computing?

        soft, joined = begin_call(old) { nil }
        soft ? answer(soft, joined) : compute_hard
      end

      private

      # True if the block of the same key makes the call.
      def computing?
        Flights.of(@records, @call.key)
      end

      # There is a copy, which is the answer unless the remote store and the block answer in time.
      def fetch_soon(copy)
        soft, joined = begin_call(copy) { |later| [@level.kept(later)] }
        return serve_old(copy) unless soft

        entry = @store.reading(@call) { @call.usable(soft.seen(left)&.entry(!joined), :stale_while_revalidate) }
        entry ? hit(entry) : answer(soft, joined)
      end

      # There is none, so the call needs the answer of the remote store. That may be an old value.
      def fetch_later
        found = nil
        entry = @store.reading(@call) do
          found = @level.kept(@call)
          @call.usable(found, :stale_while_revalidate)
        end
        return @store.serve(entry, @call, @block) if entry

        soft, joined = begin_call(found) { [found] } if usable(found)
        soft ? answer(soft, joined) : compute_hard
      end

      # A hit, which is computed again already if it is old.
      def hit(entry)
        @store.announce("stale.larder", @call, reason: :stale_while_revalidate) if entry.expired?
        @store.hit(entry, @call)
      end

      # After a read that counts as a miss.
      def serve_old(entry, reason = :soft_timeout)
        serve(@level.used(@call.key, entry), reason)
      end

      # Counts the copy of {#old_copy}, with which the call begins, as a hit.
      def used(entry)
        @level.used(@call.key, entry, Records::UNCOUNTED)
      end

      def serve(entry, reason = :soft_timeout)
        @store.announce("stale.larder", @call, reason: reason) if entry.expired?
        entry.value
      end

      # As without the option.
      def compute_hard
        Computation.new(@store, @call, @block).value
      end

      # Begins a computation in the pool, or joins that of another caller. One for an old value that was deleted or
      # replaced since is not joined: its value may be of before that.
      #
      # @yieldparam later [Call]
      # @yieldreturn [Array(ActiveSupport::Cache::Entry, nil), nil] what is stored; nil: what the file has
      # @return [Array(SoftCalls::Call, Boolean), nil] as of {SoftCalls.join}
      def begin_call(old)
        later = @call.later
        SoftCalls.join([@records, @call.key, later.version, old.expires_at]) do |soft|
          stored = yield later
          soft.see(stored.first && shared(stored.first)) if stored
          compute(soft, later) unless stored && settled?(stored.first)
        rescue Exception => e # rubocop:disable Lint/RescueException -- the callers raise it, as without the option
          soft.value = nil
          @store.answered_with_old_value(soft.failure = e)
        end
      end

      # True if there is nothing to compute.
      def settled?(entry)
        entry = usable(entry)
        entry && (!entry.expired? || @level.backs_off?(@call, entry))
      end

      def compute(soft, later)
        @store.single_flight.holding(later) do |hold|
          status, lease = @level.take_lease(later) { |taken| hold.call(soft.lease = taken) }
          case status
          when Records::TAKEN then recompute(soft, later, lease)
          when Records::LEASED then soft.other = lease
          else
            fresh = later.usable(@level.kept_copy(later.key), nil)
            fresh ? soft.value = shared(fresh) : soft.refused = true
          end
        end
      end

      def recompute(soft, later, flight)
        watched = lambda do |_, options|
          @block.call(@call.name, options).tap { |value| soft.value = shared(ActiveSupport::Cache::Entry.new(value)) }
        end
        soft.value = nil unless Computation.new(@store, later, watched).recompute(flight)
      end

      def shared(entry)
        SoftCalls::Shared.new(entry, @level.format)
      end

      # The value, or the old one at the deadline. If that was deleted, the caller computes. Until the computation has
      # ended, the value's first object is used by that.
      def answer(soft, joined)
        done = joined ? join(soft) : soft.done?(left)
        raise soft.failure if done && soft.failure

        value = soft.value
        return value.entry(done && !joined).value if value

        found = value_of_other(soft) if done
        return found.first if found

        old = old_entry(soft, joined) unless soft.refused
        return compute_hard unless old

        serve_old(old, done && !soft.other ? :stale_if_error : :soft_timeout)
      end

      def join(soft)
        @records.count_deed(Records::WAITED, @call.key)
        @store.announce("wait.larder", @call) do |payload|
          done = soft.done?(left)
          payload[:hit] = !soft.value.nil?
          done
        end
      end

      # @return [Array, nil] the value that another process makes
      def value_of_other(soft)
        return unless soft.other

        state, found = @store.single_flight.await(@call, soft.other, @deadline)
        [found] if state == :found
      end

      # The old value, unless it was deleted while the block ran.
      def old_entry(soft, joined)
        return old_copy unless soft.seen?

        ended = soft.lease && !soft.done?(0) && @level.lease_over?(@call.key, soft.lease, 0, nil)
        usable(soft.seen(0)&.entry(!joined)) unless ended
      end

      def old_copy
        usable(@level.kept_copy(@call.key))
      end

      def usable(entry)
        @call.usable(entry, :stale_if_error)
      end

      # @return [Float] seconds until the deadline
      def left
        [@deadline - monotonic_now, 0].max
      end
    end
  end
end
