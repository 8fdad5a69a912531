# frozen_string_literal: true

# Answers with an old value if the block of `fetch` takes too long, and lets the block go on.

require "concurrent/atomic/event"

module Larder
  module Store
    # `soft_timeout:`, for calls that find a value which `stale_if_error:` allows to serve. The block runs in the pool
    # of Refreshes, under a lease, and its caller waits for it. Who finds another's lease waits for that value as long.
    module SoftTimeout
      private

      # Store's, called after a miss of `fetch`.
      def save_block_result_to_cache(name, *key, options, &block)
        return super unless options[:soft_timeout] && options[:stale_if_error] && keeps?(options) && !options[:force]

        text = key.first || normalize_key(name, options)
        fetch_softly(name, text, options, block) { super(name, *key, options, &block) }
      end

      # Yields to compute as without the option.
      def fetch_softly(name, key, options, block)
        status, lease = take_lease(key, options, nil) if old_entry(name, key, options)
        answer = case status
                 when Records::TAKEN then compute_softly(name, key, options, block, lease)
                 when Records::LEASED then await_softly(name, key, options, lease)
                 end
        return answer.last if answer.is_a?(Array)

        entry = old_entry(name, key, options) if answer # it may have been deleted meanwhile
        return yield unless entry

        announce_stale(key, options, answer)
        entry.value
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

      # @return [Array, Symbol, nil] the value; the reason why it is not there; nil: the pool is full
      def compute_softly(name, key, options, block, lease)
        done, answer, failure = Concurrent::Event.new, nil, nil
        key, terms = key.dup.freeze, terms_of_refresh(name, options)
        begun = Refreshes.now do
          answer = recompute(name, key, terms, block, lease)
        rescue Exception => e # rubocop:disable Lint/RescueException -- the caller raises it, as without the option
          report_stale(failure = e)
        ensure
          done.set
        end
        unless begun
          @records.lease_end(key, lease, 0, now_ms)
          return
        end
        return :soft_timeout unless done.wait(options[:soft_timeout].to_f)

        raise failure if failure

        answer || :stale_if_error
      end

      def await_softly(name, key, options, lease)
        joined = await_value(name, key, options, lease, monotonic_now + options[:soft_timeout].to_f)
        joined&.first == :found ? joined : :soft_timeout
      end
    end
  end
end
