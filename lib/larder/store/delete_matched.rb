# frozen_string_literal: true

# Deletes by pattern, with a walk over the keys of the namespace.

module Larder
  module Store
    # Patterns are a Regexp, as of FileStore and MemoryStore, or a glob, as of RedisCacheStore.
    module DeleteMatched
      # Replaces it: not a character, so it is in no text.
      NUL = "\u{10FFFF}"
      private_constant :NUL

      # Deletes the entries whose key matches. Walks all keys of the cache (of the namespace, where there is one), which
      # stops nobody from using it.
      #
      # @param matcher [Regexp, String] a Regexp is searched in the key; a glob must match all of it, as
      #   File.fnmatch? has it with FNM_DOTMATCH: `*`, `?`, `[abc]`, `[a-z]`, `[^a]`, and `\` before a character that
      #   stands for itself; `/` and a leading dot are characters as any other
      # @param options [Hash, nil] :namespace
      # @return [Integer, nil] how many were deleted; nil where the cache could not serve
      # @raise [ArgumentError] the matcher is something else
      # @example
      #   cache.delete_matched(/\Aproducts\//)
      #   cache.delete_matched("products/*")
      def delete_matched(matcher, options = nil)
        options = merged_options(options)
        glob = matcher.is_a?(String)
        check_matcher(matcher) unless glob
        shown = glob ? namespace_key(matcher, options) : key_matcher(matcher, options).inspect

        instrument(:delete_matched, instrumented_key(glob ? matcher : matcher.inspect, shown)) do
          prefix = glob ? key_prefix(options) : namespace_prefix(options)
          failsafe(:delete_matched) { delete_keys(matching(matcher, options), prefix) }
        end
      end

      private

      def check_matcher(matcher)
        return if matcher.is_a?(Regexp)

        raise ArgumentError, "delete_matched of LarderStore takes a Regexp or a glob String, not #{matcher.inspect}"
      end

      # Store's takes only a String or a Proc as namespace.
      def key_matcher(pattern, options)
        namespace = options[:namespace]
        namespace = namespace.call if namespace.respond_to?(:call)
        super(pattern, { namespace: namespace ? namespace.to_s : nil })
      end

      # @return [Proc] is a key, as text, one of those?
      def matching(matcher, options)
        return key_matcher(matcher, options).method(:match?) if matcher.is_a?(Regexp)

        prefix = matchable(key_prefix(options))
        glob = without_nul(matchable(matcher))
        lambda do |key|
          key.start_with?(prefix) && File.fnmatch?(glob, without_nul(key.delete_prefix(prefix)), File::FNM_DOTMATCH)
        end
      end

      # What every key that the store makes starts with.
      def key_prefix(options)
        namespace_key("", options)
      end

      # What every key of the namespace starts with. Without a namespace all keys are meant, also if a class overrides
      # namespace_key: as in Rails' stores, which only look at the option.
      def namespace_prefix(options)
        options[:namespace].nil? ? "" : key_prefix(options)
      end

      def delete_keys(matching, prefix)
        time = now
        @cache.each_key(prefix: prefix.b, now: time, all: true).count do |key|
          matching.call(matchable(key)) && @cache.delete(key, now: time)
        end
      rescue Larder::Error
        @cache.clear # it is unknown which matching keys are left: all are dropped, now or when the file can be opened
        raise
      end

      # Keys and globs are text; each run of invalid bytes is one unknown character.
      def matchable(key)
        key.dup.force_encoding(Encoding::UTF_8).scrub
      end

      # File.fnmatch? expects names of files, which have no NUL.
      def without_nul(text)
        text.tr("\0", NUL)
      end
    end
  end
end
