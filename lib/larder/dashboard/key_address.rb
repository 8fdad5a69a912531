# frozen_string_literal: true

# Names a key in the address of a page and in a form.

require_relative "../inspection/key_text"

module Larder
  class Dashboard
    # The parameter `key` has the key as text. That text, percent-encoded, can have six times the bytes of the key, and
    # servers refuse a long address: Puma a query of more than 10,240 bytes, many proxies a line of more than 8,192.
    # So the parameter `key64` has a long key in base64url, as 5,460 bytes at most.
    # @api private
    module KeyAddress
      # Bytes of the percent-encoded text of `key`.
      LONGEST_TEXT = 2048
      private_constant :LONGEST_TEXT

      module_function

      # @param key [String]
      # @return [Hash{Symbol => String}] parameters
      def params(key)
        text = Inspection::KeyText.shown(key)
        short = Rack::Utils.escape(text).bytesize <= LONGEST_TEXT
        short ? { key: text } : { key64: [key].pack("m0").tr("+/", "-_").delete("=") }
      end

      # @param visit [Visit]
      # @return [String] the key of {params}, binary
      # @raise [Inspection::Invalid] it is too long, or not in base64url
      def key(visit)
        encoded = visit.param("key64")
        key = encoded.empty? ? Inspection::KeyText.bytes(visit.param("key")) : decoded(encoded)
        return key if key.bytesize <= Cache::MAX_KEY

        raise Inspection::Invalid, "The key #{Inspection::KeyText.shown(key.byteslice(0, 40))}... has " \
                                   "#{key.bytesize} bytes; keys have #{Cache::MAX_KEY} at most"
      end

      def decoded(text)
        "#{text.tr("-_", "+/")}#{"=" * (-text.size % 4)}".unpack1("m0")
      rescue ::ArgumentError
        raise Inspection::Invalid, "key64 is not base64url: #{Inspection::KeyText.shown(text[0, 40])}"
      end
      private_class_method :decoded
    end
  end
end
