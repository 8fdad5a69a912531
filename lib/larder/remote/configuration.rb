# frozen_string_literal: true

# Tells apart the configurations of stores with two levels that use one file.

require "digest"

module Larder
  module Remote
    # A copy of an entry is believed only by processes that have the same remote store, backplane and
    # `local_expires_in:` as its writer. Other processes may not know of a change of it, or keep it longer. Namespaces
    # do not belong to it, because keys have them.
    # @api private
    class Configuration
      class << self
        # @param text [String]
        # @return [Integer] of 64 bits, never 0
        def number(text)
          [Digest::SHA256.digest(text).unpack1("Q<"), 1].max
        end

        # @param number [Integer]
        # @return [String] for names of files
        def hex(number)
          format("%016x", number)
        end
      end

      # @return [Integer] of 64 bits, never 0
      attr_reader :digest

      # @param remote [String] see Remote::Client#identity
      # @param backplane [String] see Backplane::Address#place
      # @param local_expires_in [Float] seconds
      def initialize(remote:, backplane:, local_expires_in:)
        @digest = Configuration.number([remote, backplane, local_expires_in].join("\0"))
      end

      # @return [String] for names of files
      def name
        Configuration.hex(digest)
      end
    end
  end
end
