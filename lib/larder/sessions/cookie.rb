# frozen_string_literal: true

# Finds one cookie in the Cookie header without decoding the others.

module Larder
  module Sessions
    # Rack decodes all cookies to answer one, which takes longer than to find a session.
    class Cookie
      # A value that decoding does not change.
      PLAIN = /\A[\w-]+\z/
      # Matches nothing: no cookie has a name with other characters.
      NONE = /(?!)/
      private_constant :PLAIN, :NONE

      # @param name [String]
      def initialize(name)
        @pattern = name.ascii_only? ? /(?:\A|; *)#{Regexp.escape(name)}(?:=([^;]*))?(?:;|\z)/ : NONE
      end

      # As Rack::Utils.parse_cookies_header answers it: of two of that name, the first.
      #
      # @param header [String] `name=value; name=value`, of any bytes
      # @return [String, nil] nil: there is none, or Rack has to decode it
      def value_in(header)
        value = header[@pattern, 1] if header.valid_encoding?
        value.force_encoding(Encoding::UTF_8) if value&.match?(PLAIN)
      end
    end
  end
end
