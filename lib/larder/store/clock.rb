# frozen_string_literal: true

# The current time, and the TTL of counters.

module Larder
  module Store
    # Expiry is decided twice: Rails' entries compare their time of expiry with Time.now, and the engine drops items by
    # itself. The engine is given the same Time.now, so that tests which travel in time move both.
    module Clock
      private

      # Seconds since 1970, as Rails sees them: Time.now may be stubbed.
      def now
        Time.now.to_f
      end

      # The same as the engine counts it.
      def now_ms
        Larder::Options.unix_ms(now)
      end

      # TTL of a counter in seconds, which has no expiry but the engine's; nil: it never expires. Entries live longer in
      # the file than for Rails, see ext/larder/value/plain.c.
      def counter_ttl(expires_in)
        ttl = expires_in&.to_f
        ttl unless ttl.nil? || ttl > Larder::Cache::MAX_TTL
      end
    end
  end
end
