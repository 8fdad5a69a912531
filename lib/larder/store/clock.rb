# frozen_string_literal: true

# Owns time: what "now" is, and how long the engine keeps what Rails says expires.

module Larder
  module Store
    # Expiry is decided twice. Rails' entries carry the time at which they expire and check it against Time.now. The
    # engine drops items by itself, and is asked with the same Time.now, so that tests which travel in time move both.
    module Clock
      # Options that are lengths of time.
      LENGTHS = %i[expires_in race_condition_ttl].freeze
      private_constant :LENGTHS

      # @param options [Hash]
      # @raise [ArgumentError] a length of time is NaN, which is neither before nor after anything
      def self.check(options)
        LENGTHS.each do |name|
          given = options[name]
          next unless given.respond_to?(:nan?) && given.nan?

          raise ::ArgumentError, ":#{name} of LarderStore is #{given.to_f}, which is no time; it takes seconds as a " \
                                 "number or duration"
        end
      end

      private

      # Store's, checked.
      def merged_options(call_options)
        super.tap { |options| Clock.check(options) }
      end

      # Seconds since 1970, as Rails sees them: Time.now may be stubbed.
      def now
        Time.now.to_f
      end

      # The same as the engine counts it.
      def now_ms
        Larder::Options.unix_ms(now)
      end

      # Seconds that a counter lives, which has no expiry but the engine's; nil is for ever. Entries live longer in the
      # file than for Rails, see ext/larder/plain.c.
      def counter_ttl(expires_in)
        ttl = expires_in&.to_f
        ttl unless ttl.nil? || ttl > Larder::Cache::MAX_TTL
      end
    end
  end
end
