# frozen_string_literal: true

# Counters: the engine's atomic 64-bit integers, and entries that are counted like them.

module Larder
  module Store
    # The engine counts a number from the first increment on; it is read as any other value. An entry that was written
    # becomes such a counter when it is first counted. An entry with a version stays one, as do all entries of a store
    # with its own coder: these are counted by compare and swap.
    module Counters
      INT64 = (-(2**63)..((2**63) - 1))

      # How often a value is read again that others change at the same time.
      ATTEMPTS = 100
      private_constant :INT64, :ATTEMPTS

      # Adds to an integer, atomically among all processes. A missing or expired key counts from 0, any other from
      # what its value answers to `to_i`. The expiry of a present one stays as it is.
      #
      # @param name [Object] a key, as for read
      # @param amount [Integer] from -2**63 to 2**63-1; for anything else, as 1.9 or "2", Integer(amount)
      # @param options [Hash, nil] :expires_in or :expires_at (used where the key is missing), :namespace, :version; may
      #   also be given as keywords
      # @return [Integer, nil] the sum; nil where the value has no integer, the sum does not fit 64 bits, or the cache
      #   could not serve
      # @example
      #   cache.increment("visits", expires_in: 1.day)
      def increment(name, amount = 1, options = nil, **keywords)
        change_counter(:increment, name, amount, options ? options.merge(keywords) : keywords)
      end

      # Subtracts from an integer, otherwise as increment.
      #
      # @param name [Object] a key, as for read
      # @param amount [Integer]
      # @param options [Hash, nil] as for increment
      # @return [Integer, nil] the difference, otherwise as increment
      # @example
      #   cache.decrement("seats")
      def decrement(name, amount = 1, options = nil, **keywords)
        change_counter(:decrement, name, amount, options ? options.merge(keywords) : keywords)
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
        options = merged_options(options)
        key = normalize_key(name, options)
        options = options.merge(version: normalize_version(name, options))

        instrument(operation, instrumented_key(name, key), amount: amount) do
          delta = Integer(amount)
          failsafe(operation) { count(key, operation == :increment ? delta : -delta, options) }
        end
      end

      def count(key, delta, options)
        ATTEMPTS.times do
          plain = number?(options[:version]) && !begins_expired?(options)
          sum = (count_number(key, delta, options) if plain) || count_entry(key, delta, options)
          return sum if sum
        end
        raise Larder::NotANumber, "#{key.inspect} was replaced each of the #{ATTEMPTS} times that it was looked at"
      end

      # May the engine count it? A counter has no version.
      def number?(version)
        rails_coder? && version.to_s.empty?
      end

      # @return [Integer, nil] nil: the value is not a number of the engine
      def count_number(key, delta, options)
        @cache.increment(key, delta, ttl: counter_ttl(options[:expires_in]), now: now, tags: counter_tags(options))
      rescue Larder::NotANumber
        nil
      end

      # @return [Integer, nil] nil: another writer was faster, so try again
      def count_entry(key, delta, options)
        record = @records.get(key, now_ms)
        entry = present_entry(record, options[:version])
        sum = entry ? number_of(key, entry) + delta : delta
        raise Larder::NotANumber, "the sum #{sum} of #{key.inspect} does not fit 64 bits" unless INT64.cover?(sum)
        return forget(key, sum) if entry.nil? && begins_expired?(options)
        # A counter of the engine, which has no version: it was one, or became one meanwhile.
        return count_number(key, delta, options) if record && counter_record?(record)

        sum if swap(key, record, record_of_sum(sum, entry, options), options)
      end

      def counter_tags(options)
        texts_of(options) if tagged?(options)
      end

      def begins_expired?(options)
        options[:expires_in]&.zero?
      end

      def forget(key, sum)
        @cache.delete(key)
        sum
      end

      # nil also for an entry that cannot be read, has expired or is of another version.
      def present_entry(record, version)
        entry = entry_of(@records.entry_of(record)) if record
        entry unless entry.nil? || entry.expired? || entry.mismatched?(version)
      end

      def counter_record?(record)
        record[1].zero? && counter?(record[0])
      end

      def number_of(key, entry)
        number = entry.value
        return number.to_i if number.respond_to?(:to_i) && !(number.is_a?(Float) && !number.finite?)

        raise Larder::NotANumber, "#{key.inspect} holds #{number.class}, which is no number and has none (to_i)"
      rescue ActiveSupport::Cache::DeserializationError
        0 # its class is gone: as a miss
      end

      # @return [Array(String, Integer, Integer)] the record of a sum, which lives as long as the entry that was counted
      def record_of_sum(sum, entry, options)
        life = entry ? entry.expires_at && (entry.expires_at - now) : options[:expires_in]
        version = entry ? entry.version : options[:version]
        return [sum.to_s, 0, Larder::Options.life_ms(counter_ttl(life))] if number?(version)

        expires_at = entry ? entry.expires_at : life && (life.to_f + now)
        summed = ActiveSupport::Cache::Entry.new(sum, expires_at: expires_at, version: version)
        record_of(summed, options.merge(expires_in: life))
      end

      # @param record [Array, nil] what was read
      def swap(key, record, replacement, options)
        return @records.add(key, with_tags(replacement, key, options), now_ms) unless record

        bytes, flags, ttl_ms = replacement
        ttl_ms = Larder::Options::SHORTEST_MS if ttl_ms.negative?
        @records.cas(key, record, [bytes, flags, ttl_ms], now_ms) # which leaves it its tags
      end
    end
  end
end
