# frozen_string_literal: true

# Decompresses with a limit on the size of the output.

require "zlib"

module Larder
  module Codecs
    # Of zlib, which several codecs use.
    module Bounded
      module_function

      # @param window_bits [Integer] as Zlib::Inflate takes it: 15 zlib, 31 gzip
      # @return [String] binary
      # @raise [Larder::UnreadableError] more than `most` bytes, or not all of them
      def zlib(bytes, most, window_bits = Zlib::MAX_WBITS)
        stream = Zlib::Inflate.new(window_bits)
        out = String.new(capacity: [most, 1 << 20].min, encoding: Encoding::BINARY)
        stream.inflate(bytes) do |part|
          out << part
          raise UnreadableError, "too large (more than #{most} bytes)" if out.bytesize > most
        end
        raise UnreadableError, "truncated" unless stream.finished?

        out
      ensure
        stream&.reset # else closing warns of what was not read to its end
        stream&.close
      end
    end
  end
end
