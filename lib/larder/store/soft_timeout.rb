# frozen_string_literal: true

# Answers with an old value if the block of `fetch`, or the remote store, takes too long, and lets both go on.

require "larder/store/soft_calls"

module Larder
  module Store
    # `soft_timeout:`, for calls that find a value which `stale_if_error:` allows to serve. The remote store is asked
    # and the block run in the pool of Refreshes. All waits of a call end at one deadline, which is computed at its
    # beginning.
    module SoftTimeout
      # A call of `fetch`, and until when it waits by the monotonic clock.
      Soft = Struct.new(:name, :key, :options, :block, :deadline) do
        # @return [Float] seconds
        def left
          [deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max
        end
      end
      private_constant :Soft

      private

      # StaleServing's, where the remote store may be slow, too.
      def fetch_kept(name, options, block)
        return super unless @remote && soft?(options)

        soft = soft_of(name, normalize_key(name, options), options, block)
        copy = old_copy(soft)
        return fetch_later(soft) unless copy
        return serve_hit(soft, reading(name, soft.key, options) { copy }) if !copy.expired? && trusted?

        computing?(soft) ? serve_soft(soft, copy) : fetch_soon(soft, copy)
      end

      # Store's, called after a miss of `fetch`. Without a remote store that is of the file.
      def save_block_result_to_cache(name, *key, options, &block)
        return super if @remote || !soft?(options)

        soft = soft_of(name, key.first || normalize_key(name, options), options, block)
        old = old_copy(soft)
        return super unless old
        return serve_soft(soft, old) if computing?(soft)

        call, joined = soft_call(soft, old) { nil }
        call ? answer_softly(soft, call, joined) : super
      end

      def soft?(options)
        options[:soft_timeout] && options[:stale_if_error] && keeps?(options) && !options[:force]
      end

      def soft_of(name, key, options, block)
        Soft.new(name, key.dup.freeze, options, block, monotonic_now + options[:soft_timeout].to_f)
      end

      # True if the block of the same key makes the call.
      def computing?(soft)
        Leases.of(@records, soft.key)
      end

      # There is a copy, which is the answer unless the remote store and the block answer in time.
      def fetch_soon(soft, copy)
        call, joined = soft_call(soft, copy) { |terms| [stored_entry(soft.key, terms)] }
        return serve_soft(soft, copy) unless call

        entry = reading(soft.name, soft.key, soft.options) { fresh_enough(call.seen(soft.left), soft) }
        entry ? serve_hit(soft, entry) : answer_softly(soft, call, joined)
      end

      # There is none, so the call needs the answer of the remote store. That may be an old value.
      def fetch_later(soft)
        found = nil
        entry = reading(soft.name, soft.key, soft.options) do
          found = stored_entry(soft.key, soft.options)
          fresh_enough(found, soft)
        end
        return serve_kept(entry, soft.name, soft.key, soft.options, soft.block) if entry

        call, joined = soft_call(soft, found) { [found] } if usable_soft(found, soft)
        call ? answer_softly(soft, call, joined) : compute_hard(soft)
      end

      # A hit, which is computed again already if it is old.
      def serve_hit(soft, entry)
        announce_stale(soft.key, soft.options, :stale_while_revalidate) if entry.expired?
        instrument(:fetch_hit, soft.name, soft.options)
        entry.value
      end

      def serve_soft(soft, entry, reason = :soft_timeout)
        announce_stale(soft.key, soft.options, reason) if entry.expired?
        entry.value
      end

      # As without the option.
      def compute_hard(soft)
        fetch_in_flight(soft.name, soft.key, soft.options.except(:soft_timeout), soft.block)
      end

      # RemoteReads'. Yields to ask the remote store.
      #
      # @param copy [ActiveSupport::Cache::Entry, nil] what this machine has
      # @return [ActiveSupport::Cache::Entry, nil] the copy, if that takes long and the copy may be served
      def softly(copy, options)
        return yield unless copy && options[:soft_timeout] && options[:stale_if_error] &&
                            within?(copy, options[:stale_if_error])

        done, found = Concurrent::Event.new, nil
        begun = Refreshes.now do
          found = yield
        ensure
          done.set
        end
        return yield unless begun

        done.wait(options[:soft_timeout].to_f) ? found : copy
      end

      # Begins a computation in the pool, or joins that of another caller. One for an old value that was deleted or
      # replaced since is not joined: its value may be of before that.
      #
      # @yieldparam terms [Hash] options
      # @yieldreturn [Array(ActiveSupport::Cache::Entry, nil), nil] what is stored; nil: what the file has
      # @return [Array(SoftCalls::Call, Boolean), nil] as of {SoftCalls.join}
      def soft_call(soft, old)
        terms = terms_of_refresh(soft.name, soft.options)
        SoftCalls.join([@records, soft.key, terms[:version], old.expires_at]) do |call|
          stored = yield terms
          call.see(stored.first) if stored
          compute_softly(call, soft, terms) unless stored && settled?(stored.first, soft)
        rescue Exception => e # rubocop:disable Lint/RescueException -- the callers raise it, as without the option
          call.value = nil
          report_stale(call.failure = e)
        end
      end

      # True if there is nothing to compute.
      def settled?(entry, soft)
        entry = usable_soft(entry, soft)
        entry && (!entry.expired? || backs_off?(soft.key, entry))
      end

      def compute_softly(call, soft, terms)
        status, lease = take_lease(soft.key, terms, nil)
        case status
        when Records::TAKEN
          call.lease = lease
          watched = ->(*given) { soft.block.call(*given).tap { |value| call.value = [value] } }
          call.value = recompute(soft.name, soft.key, terms, watched, lease)
        when Records::LEASED then call.other = lease
        else
          fresh = usable(kept_copy(soft.key), soft.name, terms, nil)
          fresh ? call.value = [fresh.value] : call.refused = true
        end
      end

      # The value, or the old one at the deadline. If that was deleted, the caller computes.
      def answer_softly(soft, call, joined)
        done = joined ? join_softly(soft, call) : call.done?(soft.left)
        raise call.failure if done && call.failure

        found = call.value || (value_of_other(soft, call) if done)
        return found.first if found

        old = old_softly(soft, call) unless call.refused
        return compute_hard(soft) unless old

        serve_soft(soft, old, done && !call.other ? :stale_if_error : :soft_timeout)
      end

      def join_softly(soft, call)
        @records.count_deed(Records::WAITED)
        announce("wait.larder", soft.key, soft.options) do |payload|
          done = call.done?(soft.left)
          payload[:hit] = !call.value.nil?
          done
        end
      end

      # @return [Array, nil] the value that another process makes
      def value_of_other(soft, call)
        return unless call.other

        joined = await_value(soft.name, soft.key, soft.options, call.other, soft.deadline)
        [joined.last] if joined&.first == :found
      end

      # The old value, unless it was deleted while the block ran.
      def old_softly(soft, call)
        return old_copy(soft) unless call.seen?

        ended = call.lease && !call.done?(0) &&
                failsafe(:fetch) { @records.lease_wait(soft.key, call.lease, 0, now_ms) }
        usable_soft(call.seen(0), soft) unless ended
      end

      def old_copy(soft)
        usable_soft(kept_copy(soft.key), soft)
      end

      def usable_soft(entry, soft)
        usable(entry, soft.name, soft.options, :stale_if_error)
      end

      def fresh_enough(entry, soft)
        usable(entry, soft.name, soft.options, :stale_while_revalidate)
      end
    end
  end
end
