# frozen_string_literal: true

# Tells which keys a pattern of `delete_matched` means.

module Larder
  module Store
    # Patterns are a Regexp, as of FileStore and MemoryStore, or a glob, as of RedisCacheStore.
    # @api private
    class KeyMatcher
      # Replaces it: not a character, so it is in no text.
      NUL = "\u{10FFFF}"
      private_constant :NUL

      # @return [Regexp, String] of whole keys, with the namespace
      attr_reader :pattern
      # @return [String] with which the keys begin
      attr_reader :prefix

      # @param pattern [Regexp, String]
      # @param glob [String, nil] the pattern without the namespace; nil for a Regexp
      # @param prefix [String]
      def initialize(pattern, glob, prefix)
        @pattern = pattern
        @prefix = prefix
        @start = text_of(prefix)
        @glob = without_nul(text_of(glob)) if glob
      end

      # @return [Boolean]
      def regexp?
        @glob.nil?
      end

      # @param key [String]
      # @return [Boolean]
      def match?(key)
        text = text_of(key)
        return @pattern.match?(text) if regexp?

        text.start_with?(@start) &&
          File.fnmatch?(@glob, without_nul(text.delete_prefix(@start)), File::FNM_DOTMATCH)
      end

      private

      # Keys and globs are text. A byte that is not valid there, or a broken character, is one unknown character.
      def text_of(key)
        key.dup.force_encoding(Encoding::UTF_8).scrub
      end

      # File.fnmatch? expects names of files, which have no NUL.
      def without_nul(text)
        text.tr("\0", NUL)
      end
    end
  end
end
