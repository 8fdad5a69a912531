# frozen_string_literal: true

# Ends the time of an entry in the file: `expire`.

module Larder
  module Store
    # A part of {LocalLevel}.
    # @api private
    module LocalExpiry
      # The entry has expired from now on, and is kept as long as one that has expired by itself.
      #
      # @param call [Call]
      # @return [Boolean] was there one that had not expired?
      def expire(call)
        @failsafe.guard(:expire, returning: false) do
          end_time(call)
        rescue Larder::Error
          @cache.delete(call.key, now: Clock.now) # now, or when the file can be opened
          raise
        end
      end

      private

      # Without an old value, deletes what may be a lease alone.
      def end_time(call)
        now = Clock.now_ms
        record = @records.get(call.key, now)
        unless record || @records.get_kept_entry(call.key, now)
          @cache.delete(call.key, now: now / 1000.0)
          return false
        end

        end_computation(call.key, now)
        return false unless record

        ended?(call, record, now) || @cache.delete(call.key, now: now / 1000.0)
        true
      end

      # Ends the lease of another caller, which stores nothing then.
      def end_computation(key, now)
        status, lease = @records.lease(key, 1, nil, now)
        @records.lease_end(key, lease, 0, now) if lease && status != Records::PRESENT
      end

      # A record without an expiry does not say how long it is kept after it has expired. The last moment of the entry
      # is that before now.
      #
      # @return [Boolean] false: it has changed since it was read, or its lock is taken
      def ended?(call, record, now)
        bytes, flags, expires_at = record
        ttl = Larder::Options::SHORTEST_MS
        before = now - ttl
        if expires_at.zero? && call.window
          ended = @records.kept([bytes, flags, ttl], (call.window * 1000).ceil, 0)
          return @records.cas(call.key, record, ended, before)
        end

        @cache.touch(call.key, ttl: ttl / 1000.0, now: before / 1000.0)
      end
    end
  end
end
