# frozen_string_literal: true

# Counters in the file: the engine's atomic 64-bit integers, and entries that are counted like them.

module Larder
  module Store
    # The engine counts a number from the first increment on; it is read as any other value. An entry that was written
    # becomes such a counter when it is first counted. An entry with a version stays one, as do all entries of a store
    # with its own coder: these are counted by compare and swap. A part of {LocalLevel}.
    # @api private
    module LocalCounters
      INT64 = (-(2**63)..((2**63) - 1))
      # How often a value is read again that others change at the same time.
      ATTEMPTS = 100
      private_constant :INT64, :ATTEMPTS

      # @param operation [Symbol] increment or decrement
      # @param call [Call]
      # @param amount [Integer]
      # @return [Integer, nil] the sum; nil: the cache could not serve, or the value has no integer
      def count(operation, call, amount)
        @failsafe.guard(operation) { add_to(call, operation == :increment ? amount : -amount) }
      end

      private

      def add_to(call, delta)
        ATTEMPTS.times do
          plain = counter_of?(call.version) && !begins_expired?(call)
          sum = (count_number(call, delta) if plain) || count_entry(call, delta)
          return sum if sum
        end
        raise Larder::NotANumber, "#{call.key.inspect} was replaced each of the #{ATTEMPTS} times that it was looked at"
      end

      # May the engine count it? A counter has no version.
      def counter_of?(version)
        @format.rails_coder? && version.to_s.empty?
      end

      # @return [Integer, nil] nil: the value is not a number of the engine
      def count_number(call, delta)
        tags = call.texts if call.tagged?
        @cache.increment(call.key, delta, ttl: counter_ttl(call.options[:expires_in]), now: Clock.now, tags: tags)
      rescue Larder::NotANumber
        nil
      end

      # @return [Integer, nil] nil: another writer was faster, so try again
      def count_entry(call, delta)
        record = @records.get(call.key, Clock.now_ms)
        entry = present_entry(record, call.version)
        sum = entry ? number_of(call.key, entry) + delta : delta
        raise Larder::NotANumber, "the sum #{sum} of #{call.key.inspect} does not fit 64 bits" unless INT64.cover?(sum)
        return forget(call.key, sum) if entry.nil? && begins_expired?(call)
        # A counter of the engine, which has no version: it was one, or became one meanwhile.
        return count_number(call, delta) if record && counter_record?(record)

        sum if replace(call, record, record_of_sum(sum, entry, call))
      end

      def begins_expired?(call)
        call.options[:expires_in]&.zero?
      end

      def forget(key, sum)
        @cache.delete(key)
        sum
      end

      # nil also for an entry that cannot be read, has expired or is of another version.
      def present_entry(record, version)
        entry = @format.entry_of(@records.entry_of(record)) if record
        entry unless entry.nil? || entry.expired? || entry.mismatched?(version)
      end

      def counter_record?(record)
        record[1].zero? && @format.counter?(record[0])
      end

      def number_of(key, entry)
        number = entry.value
        return number.to_i if number.respond_to?(:to_i) && !(number.is_a?(Float) && !number.finite?)

        raise Larder::NotANumber, "#{key.inspect} holds #{number.class}, which is no number and has none (to_i)"
      rescue ActiveSupport::Cache::DeserializationError
        0 # its class is gone: as a miss
      end

      # @return [Array(String, Integer, Integer)] the record of a sum, which lives as long as the entry that was counted
      def record_of_sum(sum, entry, call)
        life = entry ? entry.expires_at && (entry.expires_at - Clock.now) : call.options[:expires_in]
        version = entry ? entry.version : call.version
        return [sum.to_s, 0, Larder::Options.life_ms(counter_ttl(life))] if counter_of?(version)

        expires_at = entry ? entry.expires_at : life && (life.to_f + Clock.now)
        summed = ActiveSupport::Cache::Entry.new(sum, expires_at: expires_at, version: version)
        @format.record_of(summed, call.options.merge(expires_in: life))
      end

      # @param record [Array, nil] what was read
      def replace(call, record, replacement)
        return @records.add(call.key, with_tags(replacement, call), Clock.now_ms) unless record

        bytes, flags, ttl_ms = replacement
        ttl_ms = Larder::Options::SHORTEST_MS if ttl_ms.negative?
        @records.cas(call.key, record, [bytes, flags, ttl_ms], Clock.now_ms) # which leaves it its tags
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
