# frozen_string_literal: true

# gzip (RFC 1952) with Ruby's own zlib.

require "zlib"
require "larder/codecs/bounded"

module Larder
  module Compressors
    # Small and slow; every language can read it.
    class Gzip < Compressor
      NAME = :gzip
      WINDOW_BITS = Zlib::MAX_WBITS + 16 # zlib's way to say: with gzip's header

      # @param level [Integer] 1 is fast, 9 small
      # @param framing [Hash] `max_bytes:` and `checksum:`, see Larder::Compressor
      def initialize(level: 6, **framing)
        super(**framing)
        @level = Codecs::Options.range(level, 1..9, "level: of compressor :gzip")
      end

      # @api private
      def compress(bytes)
        stream = Zlib::Deflate.new(@level, WINDOW_BITS)
        stream.deflate(bytes, Zlib::FINISH)
      ensure
        stream&.close
      end

      # @api private
      def decompress(body, size)
        Codecs::Bounded.zlib(body, size, WINDOW_BITS)
      end
    end
  end
end
