# frozen_string_literal: true

# Snappy, by the gem snappy, over Google's library.

module Larder
  module Compressors
    # Fast; text becomes somewhat smaller.
    class Snappy
      def initialize
        Codecs::OptionalGems.need("snappy", gem: "snappy", who: "compressor :snappy")
      end

      # @return [String]
      def deflate(bytes)
        ::Snappy.deflate(bytes)
      end

      # Snappy's own bytes begin with the size, as LEB128, and the library makes room for that much.
      #
      # @return [String]
      def inflate(body, size)
        promised, = Codecs::Frame.size_at(body, 0)
        raise UnreadableError, "wrong size (#{promised} bytes of #{size})" unless promised == size

        ::Snappy.inflate(body)
      end
    end
  end
end
