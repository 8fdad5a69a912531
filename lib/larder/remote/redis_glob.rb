# frozen_string_literal: true

# Names in the patterns of Redis' SCAN.

module Larder
  module Remote
    # @api private
    module RedisGlob
      # Characters that have a meaning in patterns.
      SPECIAL = /[*?\[\]\\^]/n
      private_constant :SPECIAL

      # @param text [String]
      # @return [String] the pattern that stands for these characters alone
      def self.literal(text)
        text.b.gsub(SPECIAL) { |character| "\\#{character}" }.force_encoding(text.encoding)
      end
    end
  end
end
