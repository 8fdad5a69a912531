# frozen_string_literal: true

# Makes the texts of tags, and deletes tags in any Rails store.

module Larder
  # Tags that callers give: Strings, Symbols, numbers, classes of ActiveModel, records, and Arrays of these.
  module Tagging
    class << self
      # @param given [Array, Object, nil]
      # @return [Array<String>]
      # @raise [ArgumentError] names what is no tag
      # @example
      #   Larder::Tagging.texts([:red, ["products/1", 7]]) #=> ["red", "products/1", "7"]
      def texts(given)
        given.nil? ? [] : each_of(given).map { |tag| text_of(tag) }.uniq
      end

      # @return [Object] what the store's `delete_tagged` or `clear` answers
      def delete(tags, cache)
        return cache.delete_tagged(*tags) if cache.respond_to?(:delete_tagged)
        raise ArgumentError, "#{cache.inspect} is no cache store" unless cache.respond_to?(:clear)

        texts(tags).empty? || cache.clear
      end

      private

      # Elements of Arrays, in Arrays, and of relations.
      def each_of(given)
        return [given] unless given.is_a?(Array) || (given.respond_to?(:to_ary) && given.respond_to?(:each))

        given.to_a.flat_map { |tag| each_of(tag) }
      end

      def text_of(tag)
        case tag
        when String, Symbol, Integer then tag.to_s
        when Class then class_text(tag) || refuse(tag)
        else record_text(tag) || key_text(tag) || refuse(tag)
        end
      end

      def class_text(model)
        model = model.base_class if model.respond_to?(:base_class)
        model.model_name.cache_key if model.respond_to?(:model_name)
      end

      # Not its cache_key, which changes with the record where versions are part of keys. That of a decorator is its
      # record's.
      def record_text(record)
        record = record.to_model if record.respond_to?(:to_model)
        return unless record.respond_to?(:id) && (text = class_text(record.class))
        raise ArgumentError, "#{record.class} has no id, so it is no tag; save it, or load its id" if record.id.nil?

        "#{text}/#{record.id.is_a?(Array) ? record.id.join("_") : record.id}"
      end

      def key_text(object)
        object.cache_key&.to_s if object.respond_to?(:cache_key)
      end

      def refuse(tag)
        raise ArgumentError, "tags: cannot have #{tag.inspect}; tags are Strings, Symbols, Integers, records and " \
                             "their classes"
      end
    end
  end
end
