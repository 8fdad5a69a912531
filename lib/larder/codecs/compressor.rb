# frozen_string_literal: true

# The base of all compressors: puts a codec's bytes into frames, limits the size of the output, and reads what other
# compressors or Rails' own zlib wrote.

require "zlib"

module Larder
  module Codecs
    autoload :Reading, "larder/codecs/reading" # and with it ActiveSupport, for stores
  end

  # Each of Larder::Compressors is one: a store's `compressor:`.
  class Compressor
    # Bytes that a value may have when it is decompressed: the longest that Larder's file takes.
    MAX_BYTES = 64 << 20
    # What all take, beside what is their own.
    FRAMING = %i[max_bytes checksum].freeze

    # @param max_bytes [Integer] refuse what would be larger decompressed; of what is stored as well as of what is read
    # @param checksum [Boolean] put one before what is written, and refuse what has none; false where the store has its
    #   own, as Larder's
    # @raise [ArgumentError] one of them is out of range
    def initialize(max_bytes: MAX_BYTES, checksum: true)
      @id = Compressors::REGISTRY.id_of(name)
      @max_bytes = Codecs::Options.range(max_bytes, 1..(1 << 40), "max_bytes: of #{self}")
      @checksum = checksum
      @others = {}
    end

    # @return [Symbol]
    def name
      self.class::NAME
    end

    # @param bytes [String]
    # @return [String] a frame; Rails keeps it only where it is smaller than `bytes`
    # @raise [Larder::UnserializableError] of more than max_bytes, which could not be read again
    def deflate(bytes)
      if bytes.bytesize > @max_bytes
        raise UnserializableError, "#{bytes.bytesize} bytes are more than #{self} reads again; raise max_bytes: " \
                                   "(#{@max_bytes})"
      end

      Codecs::Frame.compressed(@id, bytes.bytesize, compress(bytes), checksum: @checksum)
    end

    # @param frame [String] of this compressor, of another one, or of Rails' zlib
    # @return [String] binary
    # @raise [ActiveSupport::Cache::DeserializationError] which stores take for a miss
    def inflate(frame)
      Codecs::Reading.guard(self, frame.bytesize, quotes: false) { unpack(frame) }
    end

    # As inflate, for a program without a store.
    #
    # @param frame [String]
    # @return [String] binary
    # @raise [Larder::UnreadableError]
    # @raise [StandardError] a library's of damaged bytes
    # @raise [Larder::MissingGemError]
    # @api private
    def unpack(frame)
      frame = frame.b unless frame.encoding == Encoding::BINARY # clients of servers give text its encoding
      Codecs::Frame.compressed?(frame) ? open_frame(frame) : foreign(frame)
    end

    # @return [String]
    def to_s
      self.class.to_s
    end
    alias inspect to_s

    private

    def open_frame(frame)
      id, size, body = Codecs::Frame.open_compressed(frame, checksum: @checksum)
      codec = codec_with(id)
      raise UnreadableError, "too large (#{size} bytes, max_bytes: is #{@max_bytes})" if size > @max_bytes
      raise UnreadableError, "too large (#{body.bytesize} for #{size} bytes)" if body.bytesize > most_for(size)

      bytes = codec.decompress(body, size)
      raise UnreadableError, "wrong size (#{bytes.bytesize} bytes of #{size})" unless bytes.bytesize == size

      bytes.force_encoding(Encoding::BINARY)
    end

    def codec_with(id)
      return self if id == @id

      @others[id] || begin
        codec = Compressors::REGISTRY.with_id(id) or raise UnreadableError, "unknown compressor (#{id})"
        @others = @others.merge(id => codec.new)
        @others[id]
      end
    end

    # No compressor makes more of it.
    def most_for(size)
      (2 * size) + 512
    end

    # What Rails' default compressor wrote.
    def foreign(bytes)
      raise UnreadableError, "foreign (#{bytes.byteslice(0, 4).inspect})" unless zlib?(bytes)

      Codecs::Bounded.zlib(bytes, @max_bytes)
    end

    # RFC 1950: deflate with a window of at most 32 KiB, and a checksum of the header.
    def zlib?(bytes)
      bytes.bytesize > 2 && bytes.getbyte(0) & 0x0F == 8 && (bytes.getbyte(0) << 8 | bytes.getbyte(1)) % 31 == 0
    end
  end
end
