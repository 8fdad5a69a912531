# frozen_string_literal: true

# The calls about counters.

module Larder
  module Store
    # Rails' methods of the same names. See {LocalCounters} for how the file counts.
    module Counters
      # Adds to an integer, atomically among all processes. A missing or expired key counts from 0, any other from
      # what its value answers to `to_i`. The expiry of a present one stays as it is. With `remote:` counters are in
      # that store alone.
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
        call = call_of(name, options)
        instrument(operation, call.shown, amount: amount) do
          level.count(operation, call, Integer(amount))
        end
      end
    end
  end
end
