# frozen_string_literal: true

# The header before a codec's bytes, which names the codec, so that each value is read by the codec that wrote it,
# whatever is configured now.
#
#   a value                 C1 | 01..3D      | payload
#   with a checksum         C1 | id + 40     | CRC-32, four bytes, little-endian | payload
#   signed                  C1 | id + 80     | HMAC-SHA-256, the first 16 bytes  | payload
#   an entry, signed        C1 | BF          | HMAC-SHA-256, the first 16 bytes  | Rails' entry (Larder::Coder)
#   a dictionary            C1 | 7E, or BE   | checksum, or HMAC                 | bytes (Larder::Dictionaries)
#   compressed              B1..BF           | size, LEB128 | body
#   with a checksum         A1..AF           | size, LEB128 | CRC-32 | body
#
# Nothing else in caches begins with C1: MessagePack never uses it, UTF-8 has no such byte, and Marshal (04 08), Rails'
# entries (00 11), its MessagePack (CC 80) and gzip (1F 8B) begin with other bytes. zlib's first byte ends in 8, so A8
# and B8 are left out. `size` is the size of the decompressed bytes, so a decompression bomb is refused before it is
# decompressed. Larder's own store has a checksum for each record and needs no second one.
#
# Ids are part of the format and never change: test/larder/codecs/frame_test.rb pins them.

require "zlib"
require "larder/bytes/errors"
require "larder/codecs/errors"

module Larder
  module Codecs
    # Puts frames around bytes and takes them off.
    module Frame
      MARK = 0xC1
      SIGNED = 0x80
      CHECKED = 0x40
      UNCHECKED = 0x10 # of compressors
      SIGNATURE_BYTES = 16
      CHECKSUM_BYTES = 4
      LONGEST_SIZE = 9 # bytes of a LEB128 number below 2**63
      # Ids of serializers by their names, see Larder::Serializers.
      SERIALIZERS = { marshal: 0x01, json: 0x02, active_support_json: 0x03, message_pack: 0x04,
                      xml: 0x05, protobuf: 0x06, native: 0x07 }.freeze
      TYPED = 0x08 # objects whose class says how, see Larder::Cacheable::Frame
      DICTIONARY = 0x3E # see Larder::Dictionaries
      ENTRY = 0x3F # a signed entry, see Larder::Coder

      module_function

      # @param id [Integer] of a serializer
      # @param payload [String]
      # @param checksum [Boolean]
      # @param signature [Codecs::Signature, nil]
      # @return [String] binary
      def value(id, payload, checksum: true, signature: nil)
        frame = String.new(capacity: payload.bytesize + 2 + SIGNATURE_BYTES, encoding: Encoding::BINARY)
        frame << MARK
        if signature
          frame << (id | SIGNED) << signature.sign(id, payload)
        elsif checksum
          frame << (id | CHECKED) << [Zlib.crc32(payload, id)].pack("V")
        else
          frame << id
        end
        append(frame, payload)
      end

      # @return [Boolean] is it a frame of a value?
      def value?(bytes)
        bytes.getbyte(0) == MARK && bytes.bytesize > 1
      end

      # @param bytes [String] for which value? holds
      # @param signature [Codecs::Signature, nil] nothing is accepted that it did not sign
      # @param checksum [Boolean] must there be one?
      # @return [Array(Integer, String)] the serializer's id and the payload
      # @raise [Larder::UnreadableError]
      def open_value(bytes, checksum: true, signature: nil)
        tagged = bytes.getbyte(1)
        id = tagged & 0x3F
        raise UnreadableError, "damaged (both signed and checked)" if tagged & (SIGNED | CHECKED) == SIGNED | CHECKED
        return [id, open_signed(id, bytes, signature)] if tagged & SIGNED > 0
        raise UnreadableError, "unsigned" if signature
        return [id, open_checked(id, bytes)] if tagged & CHECKED > 0
        raise UnreadableError, "no checksum" if checksum

        [id, bytes.byteslice(2..)]
      end

      # @param id [Integer] of a compressor
      # @param size [Integer] bytes before compression
      # @return [String] binary
      def compressed(id, size, body, checksum: true)
        frame = String.new(capacity: body.bytesize + 1 + LONGEST_SIZE + CHECKSUM_BYTES, encoding: Encoding::BINARY)
        frame << (checksum ? id : id | UNCHECKED) << leb128(size)
        frame << [Zlib.crc32(body, seed(id, size))].pack("V") if checksum
        append(frame, body)
      end

      # @return [Boolean] is it a frame of compressed bytes?
      def compressed?(bytes)
        first = bytes.getbyte(0)
        first && first & 0xE0 == 0xA0 && first & 0x0F != 8 && bytes.bytesize > 1
      end

      # @param bytes [String] for which compressed? holds
      # @return [Array(Integer, Integer, String)] the compressor's id, the size that is promised, and the body
      # @raise [Larder::UnreadableError]
      def open_compressed(bytes, checksum: true)
        tagged = bytes.getbyte(0)
        id = tagged & ~UNCHECKED
        size, at = size_at(bytes, 1)
        return [id, size, checked_body(id, size, bytes, at)] if tagged == id
        raise UnreadableError, "no checksum" if checksum

        [id, size, bytes.byteslice(at..)]
      end

      # @return [String] a number below 2**63, seven bits a byte, the lowest first (DWARF 5, 7.6)
      def leb128(number)
        bytes = String.new(encoding: Encoding::BINARY)
        while number > 0x7F
          bytes << (number & 0x7F | 0x80)
          number >>= 7
        end
        bytes << number
      end

      # @return [Array(Integer, Integer)] the number at a place, and the place after it
      # @raise [Larder::UnreadableError] truncated, or of more than 63 bits
      def size_at(bytes, start)
        number = 0
        LONGEST_SIZE.times do |i|
          byte = bytes.getbyte(start + i) or raise UnreadableError, "truncated (no whole size)"
          number |= (byte & 0x7F) << (7 * i)
          return [number, start + i + 1] if byte < 0x80
        end
        raise UnreadableError, "damaged (a size of more than 63 bits)"
      end

      def open_signed(id, bytes, signature)
        raise UnreadableError, "signed, and there is no sign_with: to verify it" unless signature

        payload = bytes.byteslice((2 + SIGNATURE_BYTES)..) or raise UnreadableError, "truncated (no whole signature)"
        return payload if signature.valid?(bytes.byteslice(2, SIGNATURE_BYTES), id, payload)

        raise UnreadableError, "wrong signature"
      end

      def open_checked(id, bytes)
        payload = bytes.byteslice((2 + CHECKSUM_BYTES)..) or raise UnreadableError, "truncated (no whole checksum)"
        return payload if Zlib.crc32(payload, id) == bytes.unpack1("@2V")

        raise UnreadableError, "damaged (its checksum does not fit)"
      end

      def checked_body(id, size, bytes, at)
        body = bytes.byteslice((at + CHECKSUM_BYTES)..) or raise UnreadableError, "truncated (no whole checksum)"
        return body if Zlib.crc32(body, seed(id, size)) == bytes.unpack1("@#{at}V")

        raise UnreadableError, "damaged (its checksum does not fit)"
      end

      def seed(id, size)
        (size ^ id << 24) & 0xFFFFFFFF
      end

      # Bytes as they are: `<<` of text to binary would convert, or refuse.
      def append(frame, bytes)
        frame << (bytes.encoding == Encoding::BINARY ? bytes : bytes.b)
      end
      private_class_method :open_signed, :open_checked, :checked_body, :seed, :append
    end
  end
end
