# frozen_string_literal: true

# Tags: entries that are deleted together, however many they are. A namespace is a tag of all entries in it.

require "larder/tagging"
require "larder/store/stamps"

module Larder
  module Store
    # `tags:` of `write`, `fetch`, their multi forms and the `cache` of views. How deletions are kept is in
    # docs/adr/0032-tags.md.
    module Tags
      # Deletes all entries that have one of the tags, in all processes, at once whatever their number. Also those whose
      # values are being computed.
      #
      # @param tags [Array<String, Symbol, Class, Object>] as of `tags:`, also Arrays of them
      # @return [true, nil] nil where the cache could not serve; then the deletion is applied later
      # @raise [ArgumentError] something is no tag
      # @example
      #   Rails.cache.delete_tagged(product, "front page")
      def delete_tagged(*tags)
        texts = Tagging.texts(tags)
        instrument(:delete_tagged, texts) do
          announce("delete_tagged.larder", texts, {}) do
            drop_tagged(texts)
          end
        end
      end

      # As Rails'. What is computed for a call with tags begins before its blocks.
      #
      # @overload fetch_multi(*names, &block)
      ruby2_keywords def fetch_multi(*names, &block)
        given = names.last if names.last.is_a?(Hash)
        return super unless block_given? && given && given[:tags]

        Stamps.within(@records, nil, stamp(merged_options(given))) { super }
      end

      # As Rails'. A view's write with tags follows its read.
      #
      # @overload read(name, options = nil)
      ruby2_keywords def read(name, *given)
        value = super
        options = given.first
        if value.nil? && options.is_a?(Hash) && options[:tags]
          options = merged_options(options)
          note_stamp(normalize_key(name, options), options)
        end
        value
      end

      # A caller's tag, as none of a namespace.
      #
      # @api private
      def self.own(text)
        "\0".b << text.b
      end

      # Tags as they are in the file.
      #
      # @api private
      class Texts < Array
      end

      private

      # Store's, called after a miss of `fetch`.
      def save_block_result_to_cache(name, *key, options, &block)
        stamping(name, options, *key) { super }
      end

      # What the block computes and writes began before it. As with a clear of all, one of the namespace alone wins only
      # over what is computed under a lease.
      def stamping(name, options, key = nil, &block)
        return yield unless options[:tags] || (options[:namespace] && leases?(options))

        texts_of(options) # raises for what is no tag, before the value is computed
        Stamps.within(@records, key || normalize_key(name, options), stamp(options), &block)
      end

      # Was the cache cleared while the value of a record was computed? Then it is not stored.
      def was_cleared?(record)
        stamp = record[6]
        stamp && @cache.stamp&.byteslice(8, 8) != stamp.byteslice(8, 8)
      end

      # Called by the fast path, too.
      def note_stamp(key, options = nil)
        Stamps.note(@records, key.dup.freeze, stamp(options))
      end

      def drop_tagged(texts)
        failsafe(:delete_tagged) { @cache.delete_tagged(*texts.map { |text| Tags.own(text) }) }
      end

      def stamp(_options = nil)
        failsafe(:read_entry) { @cache.stamp } || Stamps::NEVER
      end

      def tagged?(options)
        options[:tags] || options[:namespace] ? true : false
      end

      # @return [Texts] the tags of a write
      def texts_of(options)
        tags = options[:tags]
        return tags if tags.instance_of?(Texts)

        prefix = namespace_prefix(options)
        texts = Texts.new
        texts.concat(Tagging.texts(tags).map { |text| Tags.own(text) }) if tags
        texts << prefix unless prefix.empty?
        return texts if texts.size <= Larder::Cache::MAX_TAGS

        raise ArgumentError, "an entry takes up to #{Larder::Cache::MAX_TAGS} tags, of which its namespace is one; " \
                             "these are #{texts.size}"
      end

      # @return [Array] the record, with its tags where it has any
      def with_tags(record, key, options)
        return record unless tagged?(options)

        texts = texts_of(options)
        texts.empty? ? record : @records.tagged(record, texts, stamp_of_write(key, options))
      end

      # Only a write with tags follows a read of its key.
      def stamp_of_write(key, options)
        Stamps.of(@records, key, follows_read: options[:tags] ? true : false)
      end
    end
  end
end
