# frozen_string_literal: true

# The texts under which the file and the remote store keep the tags of an entry.

require "larder/bytes/tagging"

module Larder
  module Store
    # A tag of the caller begins with a zero byte. The namespace of an entry is one of its tags, too, without that byte.
    # @api private
    class TagTexts < Array
      class << self
        # @param text [String] a tag of the caller, as of Tagging
        # @return [String] the same as the file has it
        def own(text)
          "\0".b << text.b
        end

        # @param tags [Object, nil] the option of a call
        # @param prefix [String] with which all keys of the namespace begin; empty: there is no namespace
        # @return [TagTexts]
        # @raise [ArgumentError] something is not a tag, or there are too many
        def of(tags, prefix)
          return tags if tags.instance_of?(self)

          texts = new
          texts.concat(Tagging.texts(tags).map { |text| own(text) }) if tags
          texts << prefix unless prefix.empty?
          return texts if texts.size <= Larder::Cache::MAX_TAGS

          raise ::ArgumentError, "an entry takes up to #{Larder::Cache::MAX_TAGS} tags, including its namespace; " \
                                 "these are #{texts.size}"
        end
      end

      # @param tags [Object, nil] the option of a call
      # @return [TagTexts] of the same namespace
      # @raise [ArgumentError] something is not a tag, or there are too many
      def with_names(tags)
        TagTexts.of(tags, find { |text| !text.start_with?("\0") } || "")
      end

      # @return [Array<String>] the tags of the caller
      def names
        filter_map { |text| text.byteslice(1..).force_encoding(Encoding::UTF_8) if text.start_with?("\0") }
      end
    end
  end
end
