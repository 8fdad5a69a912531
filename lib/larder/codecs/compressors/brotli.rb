# frozen_string_literal: true

# Brotli (RFC 7932) with the gem brotli, whose decompressor takes a limit.

module Larder
  module Compressors
    # The smallest for text, and slow.
    class Brotli < Compressor
      NAME = :brotli

      # @param quality [Integer] 0 is fast, 11 small
      # @param framing [Hash] `max_bytes:` and `checksum:`, see Larder::Compressor
      def initialize(quality: 5, **framing)
        super(**framing)
        Codecs::OptionalGems.need("brotli", gem: "brotli", who: "compressor :brotli")
        @quality = Codecs::Options.range(quality, 0..11, "quality: of compressor :brotli")
      end

      # @api private
      def compress(bytes)
        ::Brotli.deflate(bytes, quality: @quality)
      end

      # @api private
      def decompress(body, size)
        decompressor = ::Brotli::Decompressor.new
        out = decompressor.process(body, output_buffer_limit: size + 1)
        out << decompressor.process("", output_buffer_limit: 1) until enough?(decompressor, out, size)
        out
      end

      private

      def enough?(decompressor, out, size)
        raise UnreadableError, "too large (more than #{size} bytes)" if out.bytesize > size
        return true if decompressor.finished?
        raise UnreadableError, "truncated" if decompressor.can_accept_more_data?

        false
      end
    end
  end
end
