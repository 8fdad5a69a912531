# frozen_string_literal: true

# Owns how one cookie is found in the header that brings all of them.

module Larder
  module Sessions
    # The cookie of one name, taken out of a request's header without a look at the others. Rack decodes all of them
    # before it tells one, which takes longer than to find a session.
    class Cookie
      # What decoding leaves as it is.
      PLAIN = /\A[\w-]+\z/
      # What is found of a name that is in no header.
      NONE = /(?!)/
      private_constant :PLAIN, :NONE

      # @param name [String]
      def initialize(name)
        @pattern = name.ascii_only? ? /(?:\A|; *)#{Regexp.escape(name)}(?:=([^;]*))?(?:;|\z)/ : NONE
      end

      # As Rack::Utils.parse_cookies_header answers it: of two of that name, the first.
      #
      # @param header [String] `name=value; name=value`, of any bytes
      # @return [String, nil] nil: there is none, or it is one to be decoded
      def value_in(header)
        value = header[@pattern, 1] if header.valid_encoding?
        value.force_encoding(Encoding::UTF_8) if value&.match?(PLAIN)
      end
    end
  end
end
