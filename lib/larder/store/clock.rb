# frozen_string_literal: true

# The current time, and the TTL of counters.

module Larder
  module Store
    # Expiry is decided twice: Rails' entries compare their time of expiry with Time.now, and the engine drops items by
    # itself. The engine is given the same Time.now, so that tests which travel in time move both.
    module Clock
      # Options that are lengths of time.
      LENGTHS = %i[expires_in race_condition_ttl].freeze
      private_constant :LENGTHS

      # @param options [Hash]
      # @raise [ArgumentError] a length of time is NaN
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

      # TTL of a counter in seconds, which has no expiry but the engine's; nil: it never expires. Entries live longer in
      # the file than for Rails, see ext/larder/value/plain.c.
      def counter_ttl(expires_in)
        ttl = expires_in&.to_f
        ttl unless ttl.nil? || ttl > Larder::Cache::MAX_TTL
      end
    end
  end
end
