# frozen_string_literal: true

# LZ4 blocks with the gem lz4_flex, written in Rust. It has binaries for Ruby 3.2 and later; older versions need Rust to
# build it.
#
#   body   CRC-32 of what was compressed, four bytes, little-endian | LZ4 block
#
# The gem does not return how many bytes a block became. A damaged block may leave bytes of other memory in the output;
# the checksum detects that.

require "zlib"

module Larder
  module Compressors
    # Another implementation of LZ4; lets other threads run while it works.
    class Lz4Flex < Compressor
      NAME = :lz4_flex
      HINT = "it comes as a binary for Ruby 3.2 and later only, and needs Rust elsewhere; :lz4 compresses alike"

      # @param framing [Hash] `max_bytes:` and `checksum:`, see Larder::Compressor
      def initialize(**framing)
        super
        Codecs::OptionalGems.need("lz4_flex", gem: "lz4_flex", who: "compressor :lz4_flex", hint: HINT)
      end

      # @api private
      def compress(bytes)
        compressed = ::Lz4Flex::VarInt.compress(bytes)
        [Zlib.crc32(bytes)].pack("V") << compressed.byteslice(Codecs::Frame.leb128(bytes.bytesize).bytesize..)
      end

      # @api private
      def decompress(body, size)
        raise UnreadableError, "truncated" if body.bytesize < 5

        bytes = ::Lz4Flex::VarInt.decompress(Codecs::Frame.leb128(size) << body.byteslice(4..))
        raise UnreadableError, "damaged (its checksum does not fit)" unless Zlib.crc32(bytes) == body.unpack1("V")

        bytes
      end
    end
  end
end
