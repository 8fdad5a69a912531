# frozen_string_literal: true

# Turns entries of a Rails cache store into bytes without Marshal: sessions are Strings already.

module Larder
  module Sessions
    module Backends
      # The coder: of a store. Any other bytes than its own are read as an expired entry, so whoever can write to the
      # store can make nothing but a String. A counter is kept as its digits.
      #
      #   0   signature (3 bytes)
      #   3   expires_at (little-endian double)   Unix seconds, -1: never
      #   11  value
      module BytesCoder
        SIGNATURE = "LS\x01".b.freeze
        VALUE = SIGNATURE.bytesize + 8
        NEVER = -1.0
        private_constant :SIGNATURE, :VALUE, :NEVER

        module_function

        # @param entry [ActiveSupport::Cache::Entry] whose value is a String or an Integer
        # @return [String] bytes
        # @raise [TypeError] the value is something else
        def dump(entry)
          value = entry.value
          value = value.to_s if value.is_a?(Integer)
          raise TypeError, "sessions are kept as Strings, not as a #{value.class}" unless value.is_a?(String)

          SIGNATURE + [entry.expires_at || NEVER].pack("E") << value.b
        end

        # @param bytes [String, Object]
        # @return [ActiveSupport::Cache::Entry]
        def load(bytes)
          unless bytes.is_a?(String) && bytes.bytesize >= VALUE && bytes.b.start_with?(SIGNATURE)
            return ActiveSupport::Cache::Entry.new(nil, expires_at: 0)
          end

          at = bytes.unpack1("E", offset: SIGNATURE.bytesize)
          ActiveSupport::Cache::Entry.new(bytes.byteslice(VALUE..).b, expires_at: (at unless at.negative?))
        end
      end
    end
  end
end
