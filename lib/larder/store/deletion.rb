# frozen_string_literal: true

# The calls that remove many entries, and one that ends the time of an entry.

require "larder/store/key_matcher"

module Larder
  module Store
    # Tags, patterns and namespaces name them. docs/adr/0032-tags.md describes tags.
    module Deletion
      # The entry counts as expired from now on. As one that has expired by itself, it is still served where
      # `stale_while_revalidate:` or `stale_if_error:` allow that, for their time from now on. An entry that was stored
      # without them is deleted. A value that is being computed for the key under a lease is not stored, as after
      # `delete`.
      #
      # @param name [Object] a key, as for read
      # @param options [Hash, nil] :namespace; and the two options, if the entry has no expiry, or with `remote:`,
      #   unless the store has them
      # @return [Boolean] was there one that had not expired?
      # @example
      #   Rails.cache.expire("rates")
      def expire(name, options = nil)
        call = call_of(name, options)
        instrument(:expire, call.shown) { level.expire(call) }
      end

      # Deletes all entries that have one of the tags, in all processes, at once whatever their number. Also those whose
      # values are being computed.
      #
      # @param tags [Array<String, Symbol, Class, Object>] as of `tags:`, also Arrays of them
      # @return [true, nil] nil where the cache could not serve; then the deletion is applied later
      # @raise [ArgumentError] something is no tag
      # @example
      #   Rails.cache.delete_tagged(product, "front page")
      def delete_tagged(*tags)
        names = Tagging.texts(tags)
        instrument(:delete_tagged, names) do
          announce("delete_tagged.larder", Call.new(names, names, {})) { level.delete_tagged(names) }
        end
      end

      # Deletes the entries whose key matches. Walks all keys of the cache (of the namespace, where there is one), which
      # stops nobody from using it.
      #
      # @param matcher [Regexp, String] a Regexp is searched in the key; a glob must match all of it, as
      #   File.fnmatch? has it with FNM_DOTMATCH: `*`, `?`, `[abc]`, `[a-z]`, `[^a]`, and `\` before a character that
      #   stands for itself; `/` and a leading dot are characters as any other
      # @param options [Hash, nil] :namespace
      # @return [Integer, true, nil] how many were deleted; true: the store of `remote:` does not say; nil where the
      #   cache could not serve
      # @raise [ArgumentError] the matcher is something else, or with `remote:` one that its store does not take
      # @raise [NotImplementedError] with `remote:`, if its store has no `delete_matched`
      # @example
      #   cache.delete_matched(/\Aproducts\//)
      #   cache.delete_matched("products/*")
      def delete_matched(matcher, options = nil)
        options = merged_options(options)
        keys = key_matcher_of(matcher, options)
        shown = keys.regexp? ? keys.pattern.inspect : keys.pattern
        given = keys.regexp? ? matcher.inspect : matcher
        instrument(:delete_matched, Keys::INSTRUMENTS_KEYS ? shown : given) { level.delete_matched(keys) }
      end

      # Empties the cache, or with a namespace only that, for all processes, at once whatever its size.
      #
      # @param options [Hash, nil] :namespace
      # @return [true, nil] nil where the cache could not serve
      # @example
      #   Rails.cache.clear
      def clear(options = nil)
        level.clear(namespace_prefix(merged_options(options)), options)
      end

      private

      def key_matcher_of(matcher, options)
        case matcher
        when Regexp then KeyMatcher.new(regexp_of(matcher, options), nil, namespace_prefix(options))
        when String then KeyMatcher.new(namespace_key(matcher, options), matcher, namespace_key("", options))
        else
          raise ArgumentError, "delete_matched of LarderStore takes a Regexp or a glob String, not #{matcher.inspect}"
        end
      end

      # Rails' method takes only a String or a Proc as namespace.
      def regexp_of(pattern, options)
        namespace = options[:namespace]
        namespace = namespace.call if namespace.respond_to?(:call)
        key_matcher(pattern, { namespace: namespace ? namespace.to_s : nil })
      end
    end
  end
end
