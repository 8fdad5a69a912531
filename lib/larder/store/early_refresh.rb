# frozen_string_literal: true

# How long values take to compute, which early_refresh: needs.

module Larder
  module Store
    # A value that is computed for a call with `early_refresh: true` is written with the time that its block took in
    # place of `true`: so the time belongs to that write, whatever the fiber or the block does in between.
    module EarlyRefresh
      # How long a block took, as the value of the option.
      #
      # @!attribute ms
      #   @return [Integer] milliseconds
      ComputeTime = Struct.new(:ms)
      # Milliseconds that an entry has room for.
      MOST_MS = 0xffff_ffff
      private_constant :MOST_MS

      # @return [Boolean] is it a value of the option?
      def self.option?(given)
        [true, false, nil].include?(given) || given.is_a?(ComputeTime)
      end

      private

      # Store's, called after a miss of `fetch`. Rails' own method with the time of the block.
      def save_block_result_to_cache(name, *key, options, &block)
        return super unless options[:early_refresh]

        options = options.dup # which the block may change
        text = key.first || normalize_key(name, options)
        value, terms = computed(options) { generate(name, text, options, &block) }
        write(name, value, terms) unless value.nil? && options[:skip_nil]
        value
      end

      # @param options [Hash] those of the write, which the block may change
      # @return [Array(Object, Hash)] the block's value, and the options for its write
      def computed(options)
        from = monotonic_now
        value = yield
        return [value, options] unless options[:early_refresh]

        [value, options.merge(early_refresh: ComputeTime.new(((monotonic_now - from) * 1000).ceil))]
      end

      # @return [Integer] milliseconds; 0: unknown, as of a plain write
      def compute_ms_of(options)
        time = options[:early_refresh]
        time.is_a?(ComputeTime) ? time.ms.clamp(0, MOST_MS) : 0
      end

      # Computes a value inside Rails' event.
      #
      # @param options [Hash] which the block may change
      def generate(name, key, options)
        instrument(:generate, instrumented_key(name, key), options) do
          yield(name, ActiveSupport::Cache::WriteOptions.new(options))
        end
      end
    end
  end
end
