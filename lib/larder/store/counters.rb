# frozen_string_literal: true

# Owns counters: the engine's atomic 64-bit integers.

module Larder
  module Store
    # A counter is stored and read as a raw value: `write("n", 5, raw: true)`, `read("n", raw: true)`. An integer that
    # was written as an entry becomes one when it is first counted.
    module Counters
      INT64 = (-(2**63)..((2**63) - 1))
      INTEGER = /\A[+-]?[0-9]{1,30}\z/ # what the engine counts, where it fits 64 bits

      # How often a value is looked at that others change at the same time.
      ATTEMPTS = 100

      # How the bytes of Rails' coder begin, now and formerly.
      ENTRY = /\A[\x00\x01\x04\xCC]/n
      private_constant :INT64, :INTEGER, :ATTEMPTS, :ENTRY

      # Adds to an integer, atomically among all processes. A missing or expired key counts from 0. The expiry of a
      # present one stays as it is.
      #
      # @param name [Object] a key, as for read
      # @param amount [Integer] from -2**63 to 2**63-1
      # @param options [Hash, nil] :expires_in or :expires_at (used where the key is missing), :namespace
      # @return [Integer, nil] the sum; nil where the value is no integer or the cache could not serve
      # @example
      #   cache.increment("visits", 1, expires_in: 1.day)
      def increment(name, amount = 1, options = nil)
        change_counter(:increment, name, amount, options)
      end

      # Subtracts from an integer, otherwise as increment.
      #
      # @param name [Object] a key, as for read
      # @param amount [Integer]
      # @param options [Hash, nil] :expires_in or :expires_at (used where the key is missing), :namespace
      # @return [Integer, nil] the difference; nil where the value is no integer or the cache could not serve
      # @example
      #   cache.decrement("seats")
      def decrement(name, amount = 1, options = nil)
        change_counter(:decrement, name, amount, options)
      end

      # Reads what increment counts. As in Rails 8.1, on every Rails.
      #
      # @param name [Object] a key, as for read
      # @param options [Hash] as for read
      # @return [Integer, nil] nil where there is no counter
      # @example
      #   cache.read_counter("visits")
      def read_counter(name, **options)
        read(name, merged_options(options).merge(raw: true))&.to_i
      end

      # Sets what increment counts from. As in Rails 8.1, on every Rails.
      #
      # @param name [Object] a key, as for write
      # @param value [#to_i]
      # @param options [Hash] as for write
      # @return [true, false, nil] as for write
      # @example
      #   cache.write_counter("seats", 300, expires_in: 1.hour)
      def write_counter(name, value, **options)
        write(name, value.to_i, merged_options(options).merge(raw: true))
      end

      private

      def change_counter(operation, name, amount, options)
        amount = Integer(amount)
        options = merged_options(options)
        key = normalize_key(name, options)
        ttl = raw_ttl(options[:expires_in])

        instrument(operation, announced(name, key), amount: amount) do
          failsafe(operation) { count(key, operation == :increment ? amount : -amount, ttl) }
        end
      end

      def count(key, delta, ttl)
        attempts ||= 0
        @cache.increment(key, delta, ttl: ttl, now: now)
      rescue Larder::NotANumber
        sum = count_other(@cache.__send__(:_get_record, key, now_ms), key, delta, ttl)
        raise if sum.nil? || (attempts += 1) == ATTEMPTS

        sum || retry
      end

      # @return [Integer, false, nil] the sum; false where somebody was faster, and counting it anew may do; nil where
      #   the record cannot be counted
      def count_other(record, key, delta, ttl)
        return false unless record # it expired meanwhile

        bytes, flags = record
        return (false if INT64.cover?(bytes.to_i + delta)) if flags.zero? && INTEGER.match?(bytes) # made one meanwhile

        sum, ttl = count_entry(record, delta, ttl)
        sum && @cache.__send__(:_cas_record, key, record, [sum.to_s, 0, Larder::Options.life_ms(ttl)], now_ms) && sum
      end

      # @return [Array(Integer, Float), nil] the sum and its life in seconds, where the record is an entry that can be
      #   counted: an integer, which keeps its expiry, or an expired one, which counts as none
      def count_entry(record, delta, ttl)
        entry = entry_of(@cache.__send__(:_entry_of, record)) if rails_coder? && may_be_entry?(record)
        return unless entry
        return [delta, ttl] if entry.expired?

        sum = entry.value + delta if entry.value.is_a?(Integer)
        [sum, entry.expires_at && (entry.expires_at - now)] if sum && INT64.cover?(sum)
      rescue ActiveSupport::Cache::DeserializationError
        nil
      end

      # Raw text is none, and not to be reported as an entry that cannot be read.
      def may_be_entry?(record)
        record[1] > 0 || ENTRY.match?(record[0])
      end
    end
  end
end
