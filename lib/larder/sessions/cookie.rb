# frozen_string_literal: true

# Owns how one cookie is found in the header that brings all of them.

module Larder
  module Sessions
    # The cookie of one name, taken out of a request's header without a look at the others. Rack decodes all of them
    # before it tells one, which takes longer than to find a session.
    class Cookie
      # What decoding leaves as it is.
      PLAIN = /\A[\w-]+\z/
      private_constant :PLAIN

      # @param name [String]
      def initialize(name)
        @pattern = /(?:\A|; *)#{Regexp.escape(name)}(?:=([^;]*))?(?:;|\z)/
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
