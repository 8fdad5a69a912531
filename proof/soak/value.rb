# frozen_string_literal: true

# Makes and reads values that identify themselves: length, checksum, stamp, owner and expiry stand before some bytes.
# engine/soak/worker.c makes and reads the same.

require "zlib"

module Soak
  # Makes and reads them.
  module Value
    HEADER = 32
    NEVER = 0

    # What a value says of itself.
    Said = Struct.new(:stamp, :number, :expires_at_ms)

    # The bytes behind the header are taken from here.
    STOCK = Random.new(1).bytes(1 << 20).freeze
    private_constant :STOCK

    module_function

    # @param random [Random]
    # @return [Integer] mostly short, some as long as a page of HTML, a few of several hundred kilobytes
    def length(random)
      draw = random.rand(6400)
      body = if draw < 3 then 200_000 + random.rand(200_000)
             elsif draw < 100 then 9000 + random.rand(31_000)
             elsif draw < 4800 then random.rand(200)
             else random.rand(3000)
             end
      HEADER + body
    end

    # @param number [Integer] the key's
    # @param stamp [Integer]
    # @param bytes [Integer] the whole length
    # @param expires_at_ms [Integer] Unix time, or {NEVER}
    # @return [String] binary
    def make(number, stamp, bytes, expires_at_ms = NEVER)
      rest = [stamp, number, expires_at_ms].pack("Q<3")
      rest << STOCK.byteslice(stamp % 500_000, bytes - HEADER)
      [bytes, Zlib.crc32(rest)].pack("L<2") << rest
    end

    # @param value [String]
    # @return [Said, nil] nil: it does not prove itself
    def read(value)
      return if !value.is_a?(String) || value.bytesize < HEADER

      length, crc, stamp, number, expires_at_ms = value.unpack("L<2Q<3")
      return unless length == value.bytesize && crc == Zlib.crc32(value.byteslice(8, length - 8))

      Said.new(stamp, number, expires_at_ms)
    end
  end
end
