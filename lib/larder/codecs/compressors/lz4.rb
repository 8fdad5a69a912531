# frozen_string_literal: true

# LZ4 blocks with the gem extlz4, whose LZ4 is up to date and never reads or writes out of bounds.

module Larder
  module Compressors
    # The fastest to decompress.
    class Lz4 < Compressor
      NAME = :lz4

      # @param level [Integer] 0 is fast; 1 to 12 take LZ4 HC, which is slower to write and as fast to read
      # @param framing [Hash] `max_bytes:` and `checksum:`, see Larder::Compressor
      def initialize(level: 0, **framing)
        super(**framing)
        Codecs::OptionalGems.need("extlz4", gem: "extlz4", who: "compressor :lz4")
        @level = Codecs::Options.range(level, 0..12, "level: of compressor :lz4")
      end

      # @api private
      def compress(bytes)
        @level.zero? ? ::LZ4.block_encode(bytes) : ::LZ4.block_encode(@level, bytes)
      end

      # @api private
      def decompress(body, size)
        ::LZ4.block_decode(body, size)
      end
    end
  end
end
