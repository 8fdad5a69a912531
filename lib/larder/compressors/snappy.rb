# frozen_string_literal: true

# Snappy, by the gem snappy, over Google's library.

module Larder
  module Compressors
    # Fast; text becomes somewhat smaller.
    class Snappy < Compressor
      NAME = :snappy

      # @param framing [Hash] `max_bytes:` and `checksum:`, see Larder::Compressor
      def initialize(**framing)
        super
        Codecs::OptionalGems.need("snappy", gem: "snappy", who: "compressor :snappy")
      end

      # @api private
      def compress(bytes)
        ::Snappy.deflate(bytes)
      end

      # Snappy's own bytes begin with the size, as LEB128, and the library makes room for that much.
      #
      # @api private
      def decompress(body, size)
        promised, = Codecs::Frame.size_at(body, 0)
        raise UnreadableError, "wrong size (#{promised} bytes of #{size})" unless promised == size

        ::Snappy.inflate(body)
      end
    end
  end
end
