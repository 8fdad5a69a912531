# frozen_string_literal: true

# Gives the procs of {TrialCodecs} to a store of Rails, as its serializer and its compressor.

require_relative "codecs"

module Larder
  module Lab
    module TrialCodecs
      # Contenders as Rails takes them.
      class Coding
        # Bytes from which a store compresses.
        THRESHOLD = 1024
        # What a store calls.
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
          @way = way
          @packing = packing
        end

        # @return [#dump, #load]
        def serializer
          @serializer ||= Serializer.new(@way, false)
        end

        # @return [Boolean] did the store use it?
        def asked?
          serializer.asked
        end

        # @return [#deflate, #inflate]
        def compressor
          Compressor.new(@packing)
        end

        # @return [Hash{Symbol=>Object}] options of a store
        def to_options
          { serializer: serializer, compressor: compressor, compress: @packing.compresses?,
            compress_threshold: THRESHOLD }
        end
      end
    end
  end
end
