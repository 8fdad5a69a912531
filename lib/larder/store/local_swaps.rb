# frozen_string_literal: true

# Compare-and-swap in the file: a new value is stored only over the entry that it was made from.

module Larder
  module Store
    # The engine compares the identity of a record. A part of {LocalLevel}.
    # @api private
    module LocalSwaps
      # @return [Boolean] true if `cas` can be answered
      def swaps?
        true
      end

      # Yields the value of an entry, and stores what the block returns.
      #
      # @param call [Call]
      # @return [Boolean, nil] nil: a miss, and the block was not called
      def swap(call)
        record = @failsafe.guard(:cas, returning: false) { @records.get(call.key, Clock.now_ms) }
        return record unless record

        found = value_of(record, call.version) or return
        swap_record(call, record, yield(found.first)) || false
      end

      # Yields values by call, and stores those that the block returns by call.
      #
      # @param calls [Array<Call>]
      # @return [Boolean]
      def swap_many(calls)
        records = @failsafe.guard(:cas_multi) { calls.to_h { |call| [call, @records.get(call.key, Clock.now_ms)] } }
        return false unless records

        values = {}
        records.each do |call, record|
          found = record && value_of(record, call.version)
          values[call] = found.first if found
        end
        yield(values).map { |call, value| values.key?(call) && swap_record(call, records[call], value) }.all?
      end

      private

      # @return [Array(Object), nil] the value of a record; nil: a miss
      def value_of(record, version)
        entry = present_entry(record, version)
        [entry.value] if entry
      rescue ActiveSupport::Cache::DeserializationError
        nil
      end

      # @return [Boolean, nil] nil: the cache could not serve
      def swap_record(call, record, value)
        @failsafe.guard_write(:cas) do
          entry = ActiveSupport::Cache::Entry.new(value, **call.options, version: call.version)
          bytes, flags, ttl_ms, *more = @format.record_of(entry, call.options)
          ttl_ms = Larder::Options::SHORTEST_MS if ttl_ms.negative? # which has expired already
          replacement = [bytes, flags, ttl_ms, *more]
          replacement = with_tags(replacement, call) if call.options[:tags]
          @records.cas(call.key, record, replacement, Clock.now_ms)
        end
      end
    end
  end
end
