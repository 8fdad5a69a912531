# frozen_string_literal: true

# Owns deleting by pattern: a walk over the keys of the namespace.

module Larder
  module Store
    # Patterns are a Regexp, as of FileStore and MemoryStore, or a glob, as of RedisCacheStore.
    module DeleteMatched
      # Deletes the entries whose key matches. Walks all keys of the cache (of the namespace, where there is one), which
      # stops nobody from using it.
      #
      # @param matcher [Regexp, String] a Regexp is searched in the key; a glob must match all of it, and knows
      #   `*`, `?`, `[abc]`, `[a-z]`, `[^a]` and `\` before a character that stands for itself
      # @param options [Hash, nil] :namespace
      # @return [Integer, nil] how many were deleted; nil where the cache could not serve
      # @raise [ArgumentError] the matcher is something else
      # @example
      #   cache.delete_matched(/\Aproducts\//)
      #   cache.delete_matched("products/*")
      def delete_matched(matcher, options = nil)
        options = merged_options(options)
        pattern = key_pattern(matcher, options)
        shown = matcher.is_a?(String) ? namespace_key(matcher, options) : pattern.inspect

        instrument(:delete_matched, announced(matcher.is_a?(String) ? matcher : matcher.inspect, shown)) do
          failsafe(:delete_matched) { delete_keys(pattern, key_prefix(options)) }
        end
      end

      private

      def key_pattern(matcher, options)
        case matcher
        when Regexp then key_matcher(matcher, options)
        when String then /\A#{Regexp.escape(key_prefix(options))}#{Glob.source(matcher)}\z/m
        else
          raise ArgumentError, "delete_matched of LarderStore takes a Regexp or a glob String, not #{matcher.inspect}"
        end
      end

      # What every key of the namespace starts with.
      def key_prefix(options)
        namespace_key("", options)
      end

      def delete_keys(pattern, prefix)
        time = now
        @cache.each_key(prefix: prefix.b, now: time).count do |key|
          pattern.match?(matchable(key)) && @cache.delete(key, now: time)
        end
      rescue Larder::Error
        @cache.clear # which keys match, and are left, cannot be told: all go, now or when the file can be opened
        raise
      end

      # Keys are text to a pattern; bytes that are not text never match anything but "any character".
      def matchable(key)
        key.dup.force_encoding(Encoding::UTF_8).scrub
      end

      # Translates globs to the language of Regexp.
      module Glob
        TOKEN = /\\(?<literal>.)|(?<any>\*)|(?<one>\?)|\[(?<not>\^?)(?<set>(?:\\.|[^\]\\])+)\]|(?<char>.)/m
        private_constant :TOKEN

        # @param glob [String]
        # @return [String] the source of a Regexp for what `*`, `?`, `[...]` and `\` stand for
        def self.source(glob)
          glob.gsub(TOKEN) do
            match = $~
            if match[:any] then ".*"
            elsif match[:one] then "."
            elsif match[:set] then "[#{match[:not]}#{set(match[:set])}]"
            else
              Regexp.escape(match[:literal] || match[:char])
            end
          end
        end

        # A dash between two characters is a range; nothing else in a set has a meaning to a glob.
        def self.set(inside)
          inside.gsub(/\\(.)|([\[&^])/m) { Regexp.escape($1 || $2).sub(/\A(?=[&^-]\z)/, "\\") }
        end
        private_class_method :set
      end
      private_constant :Glob
    end
  end
end
