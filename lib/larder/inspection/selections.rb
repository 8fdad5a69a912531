# frozen_string_literal: true

# The parts of a cache that can be deleted, each with its items. A new part is a class here with a NAME,
# an ARGUMENT and HELP, and a row in ALL.

require_relative "../store/tag_texts"
require_relative "errors"
require_relative "key_text"
require_relative "keyspaces"

module Larder
  module Inspection
    # Parts of a cache that are deleted together.
    module Selections
      # Items of a cache that are deleted together.
      class Selection
        # @return [String] that was typed
        attr_reader :text

        # @param text [String]
        # @raise [Invalid]
        def initialize(text)
          raise Invalid, "the #{name} is empty" if text.empty?

          @text = text
        end

        # @return [String] the option's name
        def name
          self.class::NAME
        end

        # @return [String] with which a sentence goes on: "Deleted 3 items ..."
        def to_s
          "with the #{name} #{text}"
        end

        private

        # Also keys of values that are being computed.
        def delete_keys(cache, prefix)
          cache.each_key(prefix: prefix, all: true).each_slice(1000).sum { |keys| cache.delete_multi(keys) }
        end
      end

      # Keys that begin with a text.
      class Prefix < Selection
        NAME = "prefix"
        ARGUMENT = "TEXT"
        HELP = ["only keys that begin with TEXT"].freeze

        # @param cache [Cache]
        # @return [Integer, nil] how many items were deleted; nil: that is not known
        def delete(cache)
          delete_keys(cache, KeyText.bytes(text))
        end
      end

      # Entries of a Rails store with `namespace:`.
      class Namespace < Selection
        NAME = "namespace"
        ARGUMENT = "NAME"
        HELP = ["only keys that begin with NAME:"].freeze

        # The namespace is also a tag of its entries; it is deleted as Rails.cache.clear does.
        #
        # @param (see Prefix#delete)
        # @return (see Prefix#delete)
        def delete(cache)
          prefix = KeyText.bytes("#{text.delete_suffix(":")}:")
          deleted = delete_keys(cache, prefix)
          cache.delete_tagged(prefix)
          deleted
        end

        # @return [String]
        def to_s
          "of the namespace #{text}"
        end
      end

      # Entries with a tag.
      class Tag < Selection
        NAME = "tag"
        ARGUMENT = "TAG"
        HELP = ["only items with this tag"].freeze

        # @param (see Prefix#delete)
        # @return (see Prefix#delete)
        def delete(cache)
          cache.delete_tagged(::Larder::Store::TagTexts.own(text))
          nil
        end
      end

      # Keys of a keyspace, by the namespaces and patterns that the application has named.
      class Keyspace < Selection
        NAME = "keyspace"
        ARGUMENT = "NAME"
        HELP = ["only keys of this keyspace, see larder stat"].freeze

        # @param (see Prefix#delete)
        # @return (see Prefix#delete)
        def delete(cache)
          keyspace = Keyspaces.of(cache.path)
          name = KeyText.bytes(text)
          keys = cache.each_key(all: true).lazy.select { |key| keyspace.call(key).b == name }
          keys.each_slice(1000).sum { |slice| cache.delete_multi(slice) }
        end

        # @return [String]
        def to_s
          "of the keyspace #{text}"
        end
      end

      # In the order of the help.
      ALL = [Prefix, Namespace, Tag, Keyspace].freeze
      private_constant :Selection
    end
  end
end
