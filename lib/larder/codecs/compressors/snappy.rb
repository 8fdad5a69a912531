# frozen_string_literal: true

# Snappy with the gem snappy, which uses Google's library.

module Larder
  module Compressors
    # Fast; makes text somewhat smaller.
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

      # Snappy's bytes begin with the size, as LEB128, and the library allocates that much.
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
