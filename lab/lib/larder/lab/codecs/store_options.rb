# frozen_string_literal: true

# Gives the procs of a serializer and a compressor to a store of Rails.

require_relative "ways"

module Larder
  module Lab
    module Codecs
      # Codecs as Rails takes them.
      class StoreOptions
        # Bytes from which a store compresses.
        THRESHOLD = 1024
        # The serializer that a store calls.
        # @!visibility private
        Serializer = Struct.new(:way, :asked) do
          # @api private
          def dump(value)
            self.asked = true
            way.there.call(value)
          end

          # @api private
          def load(bytes) = way.back.call(bytes)
        end
        # The compressor that a store calls.
        # @!visibility private
        Compressor = Struct.new(:way) do
          # @api private
          def deflate(bytes) = way.there.call(bytes)
          # @api private
          def inflate(bytes) = way.back.call(bytes)
        end
        private_constant :Serializer, :Compressor

        # @param way [Way] of a serializer
        # @param packing [Way] of a compressor
        def initialize(way, packing)
          @packing = packing
          @serializer = Serializer.new(way, false)
        end

        # @return [Boolean] whether the store has used the serializer
        def asked?
          @serializer.asked
        end

        # @return [Hash{Symbol=>Object}] options of a store
        def to_options
          { serializer: @serializer, compressor: Compressor.new(@packing), compress: @packing.compresses?,
            compress_threshold: THRESHOLD }
        end
      end
    end
  end
end
