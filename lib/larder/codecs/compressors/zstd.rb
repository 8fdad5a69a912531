# frozen_string_literal: true

# Zstandard (RFC 8878) with the gem zstd-ruby, which includes libzstd and takes dictionaries.

module Larder
  module Compressors
    # As small as gzip, and several times as fast.
    class Zstd < Compressor
      NAME = :zstd

      # The most bytes that a block can become; a block of equal bytes is written as four.
      BLOCK_BYTES = 128 << 10
      # A slice of a frame may become at most the expected size and 8 MiB more.
      GROWTH = BLOCK_BYTES / 4
      SLICE_BYTES = (256..(2 << 10))
      # A body that short cannot become more than 8 MiB.
      SURE_BYTES = 256
      MAGIC = "\x28\xB5\x2F\xFD".b.freeze
      ID_BYTES = [0, 1, 2, 4].freeze
      CONTENT_SIZE_BYTES = [0, 2, 4, 8].freeze
      CHECKSUM_BYTES = 4
      private_constant :BLOCK_BYTES, :GROWTH, :SLICE_BYTES, :CONTENT_SIZE_BYTES, :CHECKSUM_BYTES,
                       :SURE_BYTES, :MAGIC, :ID_BYTES

      # @param level [Integer] 1 is fast, 19 small; negative ones are faster still
      # @param dictionary [Larder::Dictionary, Larder::Dictionaries, nil]
      # @param framing [Hash] `max_bytes:` and `checksum:`, see Larder::Compressor
      def initialize(level: 3, dictionary: nil, **framing)
        super(**framing)
        Codecs::OptionalGems.need("zstd-ruby", gem: "zstd-ruby", who: "compressor :zstd")
        unless dictionary.nil? || (dictionary.respond_to?(:current) && dictionary.respond_to?(:find))
          raise ::ArgumentError, "dictionary: of compressor :zstd is #{dictionary.class}; it takes a " \
                                 "Larder::Dictionary, or Larder::Dictionaries"
        end

        @level = Codecs::Options.range(level, -100..22, "level: of compressor :zstd")
        @dictionaries = dictionary
        @to_compress = {}
        @to_decompress = {}
      end

      # @api private
      def compress(bytes)
        dictionary = @dictionaries&.current
        prepared = dictionary && compressing(dictionary)
        prepared ? ::Zstd.compress(bytes, dict: prepared) : ::Zstd.compress(bytes, level: @level)
      end

      # The library has no limit on the output. So the blocks of a frame are counted first. If they could become more
      # than the expected size, as many small ones could, the library gets the frame in slices.
      #
      # @api private
      def decompress(body, size)
        raise UnreadableError, "no Zstandard frame" unless body.start_with?(MAGIC) && body.bytesize > 5

        dictionary = dictionary_of(body)
        sure = body.bytesize <= SURE_BYTES || most_of(body) <= size + BLOCK_BYTES
        return ::Zstd.decompress(body, **dictionary) if sure

        sliced(body, size, dictionary)
      end

      private

      def sliced(body, size, dictionary)
        stream = ::Zstd::StreamingDecompress.new(**dictionary)
        out = String.new(capacity: size, encoding: Encoding::BINARY)
        at = 0
        slice = (size / GROWTH).clamp(SLICE_BYTES)
        while at < body.bytesize
          out << stream.decompress(body.byteslice(at, slice))
          raise UnreadableError, "too large (more than #{size} bytes)" if out.bytesize > size

          at += slice
        end
        out
      end

      # RFC 8878, 3.1.1: the most bytes that the blocks of a frame can become.
      def most_of(body)
        at = header_bytes(body)
        most = 0
        loop do
          head = body.byteslice(at, 3)
          raise UnreadableError, "truncated" unless head&.bytesize == 3

          head = head.getbyte(0) | (head.getbyte(1) << 8) | (head.getbyte(2) << 16)
          size = head >> 3
          most += (head >> 1) & 3 == 2 ? BLOCK_BYTES : size # compressed; raw, or one byte again and again
          at += 3 + ((head >> 1) & 3 == 1 ? 1 : size)
          break if head.odd?
        end
        at += CHECKSUM_BYTES if body.getbyte(4) & 4 > 0
        at == body.bytesize ? most : raise(UnreadableError, "damaged (another frame, or none, behind the last block)")
      end

      # Of which the descriptor, RFC 8878, 3.1.1.1.1, tells what there is.
      def header_bytes(body)
        descriptor = body.getbyte(4)
        single = descriptor & 0x20 > 0
        content = descriptor >> 6
        5 + (single ? 0 : 1) + ID_BYTES[descriptor & 3] + (content.zero? && single ? 1 : CONTENT_SIZE_BYTES[content])
      end

      # Keywords for the library.
      def dictionary_of(body)
        id = dictionary_id(body)
        return {} if id.zero?

        dictionary = @dictionaries&.find(id) or raise UnreadableError, "no such dictionary (#{id})"
        { dict: decompressing(dictionary) }
      end

      # RFC 8878, 3.1.1.1: the descriptor tells how many bytes the id has, and whether one of the window's comes before.
      def dictionary_id(body)
        descriptor = body.getbyte(4)
        start = descriptor & 0x20 > 0 ? 5 : 6
        body.byteslice(start, ID_BYTES[descriptor & 3]).to_s.bytes.each_with_index.sum { |byte, i| byte << (8 * i) }
      end

      # Prepared for the library, once; nil where it finds that these bytes are none, and compresses without.
      def compressing(dictionary)
        @to_compress.fetch(dictionary.id) do
          prepared = prepare(dictionary)
          @to_compress = @to_compress.merge(dictionary.id => prepared)
          prepared
        end
      end

      def prepare(dictionary)
        ::Zstd::CDict.new(dictionary.bytes, @level)
      rescue RuntimeError => e
        raise unless OwnFailure.again?(e) { ::Zstd::CDict.new(dictionary.bytes, @level) }

        Codecs::Reading.report(dictionary, UnreadableError.new("no dictionary (#{e.message})"))
        nil
      end

      def decompressing(dictionary)
        @to_decompress[dictionary.id] || begin
          prepared = ::Zstd::DDict.new(dictionary.bytes)
          @to_decompress = @to_decompress.merge(dictionary.id => prepared)
          prepared
        end
      end
    end
  end
end
