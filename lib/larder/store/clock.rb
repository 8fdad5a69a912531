# frozen_string_literal: true

# Owns time: what "now" is, and how long the engine keeps what Rails says expires.

module Larder
  module Store
    # Expiry is decided twice. Rails' entries carry the time at which they expire and check it against Time.now. The
    # engine drops items by itself, and is asked with the same Time.now, so that tests which travel in time move both.
    module Clock
      # How long the engine keeps an entry that has expired, in seconds, so that race_condition_ttl can serve it.
      GRACE = 300.0

      private

      # Seconds since 1970, as Rails sees them: Time.now may be stubbed.
      def now
        Time.now.to_f
      end

      # The same as the engine counts it.
      def now_ms
        Larder::Options.unix_ms(now)
      end

      # Seconds that the engine keeps an entry; nil is for ever. Rails allows race_condition_ttl to be given to the
      # fetch that finds the entry expired and not to the write before it, so every entry gets some grace: as much
      # again as its life, where no race_condition_ttl asks for more. A raw value has no expiry but the engine's.
      def engine_ttl(expires_in, race_condition_ttl, raw)
        return unless expires_in

        ttl = expires_in.to_f
        return if ttl > Larder::Cache::MAX_TTL
        return ttl if raw

        ttl + (race_condition_ttl ? [GRACE, race_condition_ttl.to_f].max : [GRACE, ttl].min)
      end
    end
  end
end
