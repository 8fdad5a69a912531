# frozen_string_literal: true

# Values that say whose they are: domain, key, version, writer and when their write began.

module MachineProof
  # Makes and reads them.
  module Value
    # Bytes of most values, and of a few.
    SHORT = 60
    LONG = 20_000
    SEPARATOR = "|"
    # Names whose values are Hashes, which a serializer has to write.
    STRUCTURED = /[13579]\z/

    module_function

    # @param domain [String]
    # @param name [String]
    # @param version [String] begins with the writer
    # @param at [Float] when the write began
    # @param long [Boolean]
    # @return [String, Hash]
    def make(domain, name, version, at, long: false)
      text = [domain, version, at.to_s, name, "x" * (long ? LONG : SHORT)].join(SEPARATOR)
      name.match?(STRUCTURED) ? { "text" => text, "size" => text.bytesize } : text
    end

    # @return [Array(String, String, String), nil] domain, name and version; nil: this proof has not made it
    def read(value)
      value = whole(value) if value.is_a?(Hash)
      return unless value.is_a?(String)

      domain, version, at, name, filler = value.dup.force_encoding(Encoding::UTF_8).split(SEPARATOR, 5)
      return unless filler&.match?(/\Ax+\z/) && [SHORT, LONG].include?(filler.size) && at.match?(/\A[\d.]+\z/)

      [domain, name, version]
    end

    def whole(value)
      text = value["text"]
      text if value.size == 2 && text.is_a?(String) && text.bytesize == value["size"]
    end
  end
end
