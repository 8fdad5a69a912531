# frozen_string_literal: true

# The parts of a cache that can be deleted, each with its items. A new part is a class here with a NAME,
# an ARGUMENT and HELP, and a row in ALL.

require_relative "../store/tag_texts"
require_relative "errors"
require_relative "key_text"
require_relative "keyspaces"
require_relative "search"

module Larder
  module Inspection
    # Parts of a cache that are deleted together.
    module Selections
      # Items of a cache that are deleted together.
      class Selection
        # @return [String] that was typed
        attr_reader :text

        # Keys that are deleted in one pass.
        SLICE = 1000
        private_constant :SLICE

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

        def delete_keys(cache)
          keys(cache).each_slice(SLICE).sum { |slice| cache.delete_multi(slice) }
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
          delete_keys(cache)
        end

        # @param cache [Cache]
        # @return [Enumerator<String>] also keys of values that are being computed
        def keys(cache)
          cache.each_key(prefix: KeyText.bytes(text), all: true)
        end

        # @param cache [Cache]
        # @param limit [Integer] items
        # @return [Search] for items of the part
        def search(cache, limit:)
          Search.new(cache, Pattern.new(KeyText.bytes(text), literal: true), limit: limit)
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
          deleted = delete_keys(cache)
          cache.delete_tagged(prefix)
          deleted
        end

        # @param (see Prefix#keys)
        # @return (see Prefix#keys)
        def keys(cache)
          cache.each_key(prefix: prefix, all: true)
        end

        # @param (see Prefix#search)
        # @return (see Prefix#search)
        def search(cache, limit:)
          Search.new(cache, Pattern.new(prefix, literal: true), limit: limit)
        end

        # @return [String]
        def to_s
          "of the namespace #{text}"
        end

        private

        def prefix
          KeyText.bytes("#{text.delete_suffix(":")}:")
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
          delete_keys(cache)
        end

        # @param (see Prefix#keys)
        # @return (see Prefix#keys)
        def keys(cache)
          of_it = test(cache)
          cache.each_key(all: true).lazy.select { |key| of_it.call(key) }
        end

        # @param (see Prefix#search)
        # @return (see Prefix#search)
        def search(cache, limit:)
          Search.new(cache, Pattern.new(""), limit: limit, &test(cache))
        end

        # @return [String]
        def to_s
          "of the keyspace #{text}"
        end

        private

        def test(cache)
          keyspace = Keyspaces.of(cache.path)
          name = KeyText.bytes(text)
          ->(key) { keyspace.call(key).b == name }
        end
      end

      # In the order of the help.
      ALL = [Prefix, Namespace, Tag, Keyspace].freeze
      private_constant :Selection
    end
  end
end
