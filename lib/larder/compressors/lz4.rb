# frozen_string_literal: true

# LZ4 blocks, by the gem extlz4: its LZ4 is of today, and never reads or writes out of bounds whatever the bytes are.

module Larder
  module Compressors
    # The fastest to read.
    class Lz4
      # @param level [Integer] 0 is fast; 1 to 12 take LZ4 HC, which is slower to write and as fast to read
      def initialize(level: 0)
        Codecs::OptionalGems.need("extlz4", gem: "extlz4", who: "compressor :lz4")
        @level = Codecs::Options.range(level, 0..12, "level: of compressor :lz4")
      end

      # @return [String]
      def deflate(bytes)
        @level.zero? ? ::LZ4.block_encode(bytes) : ::LZ4.block_encode(@level, bytes)
      end

      # @return [String]
      def inflate(body, size)
        ::LZ4.block_decode(body, size)
      end
    end
  end
end
