# frozen_string_literal: true

# Writes keys as text that can be typed again, and reads such text.

module Larder
  module Inspection
    # Printable characters of UTF-8 stand for themselves. All other bytes are `\x` and two hexadecimal digits; a
    # backslash is `\\`. In what is typed, a backslash before anything else stands for itself, too.
    module KeyText
      # Characters that are not seen, or change how others are shown.
      UNSEEN = /[[:cntrl:]\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/
      PLAIN = /\A[ -\[\]-~]*\z/n
      TYPED = /\\(?:\\|x(\h\h))/n
      private_constant :PLAIN, :TYPED

      module_function

      # @param key [String] of any bytes
      # @return [String] UTF-8
      def shown(key)
        return key.dup.force_encoding(Encoding::UTF_8) if PLAIN.match?(key.b)

        key.dup.force_encoding(Encoding::UTF_8).each_char.map do |character|
          next "\\\\" if character == "\\"

          character.valid_encoding? && !UNSEEN.match?(character) ? character : escaped(character)
        end.join
      end

      # @param text [String] as {shown} writes it, or as it was typed
      # @return [String] the key, binary
      def bytes(text)
        text.b.gsub(TYPED) { $1 ? $1.hex.chr : "\\" }
      end

      # @param bytes [String]
      # @return [String] each as an escape
      def escaped(bytes)
        bytes.each_byte.map { |byte| format("\\x%02X", byte) }.join
      end
    end
  end
end
