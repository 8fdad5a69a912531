# frozen_string_literal: true

# Makes the texts of tags, and deletes tags in any store.

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
        given.nil? ? [] : [given].flatten.map { |tag| text_of(tag) }.uniq
      end

      private

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

      # Not its cache_key, which changes with the record where versions are part of keys.
      def record_text(record)
        return unless record.respond_to?(:id) && (text = class_text(record.class))
        raise ArgumentError, "#{record.class} is new, so it has no id and is no tag; save it first" if record.id.nil?

        "#{text}/#{record.id.is_a?(Array) ? record.id.join("_") : record.id}"
      end

      def key_text(object)
        object.cache_key.to_s if object.respond_to?(:cache_key)
      end

      def refuse(tag)
        raise ArgumentError, "#{tag.inspect} is no tag; tags are Strings, Symbols, Integers, records and their classes"
      end
    end
  end

  # Deletes the entries of tags in any Rails store. One that is not Larder's knows no tags and is cleared, so an
  # application may use it in tests or in development.
  #
  # @param tags [Array<String, Symbol, Class, Object>] as of `tags:`
  # @param cache [ActiveSupport::Cache::Store] the default is the application's
  # @return [true, Object, nil] what `delete_tagged` or `clear` answers
  # @raise [ArgumentError] something is no tag
  # @example
  #   Larder.delete_tagged("front page", cache: ActiveSupport::Cache::MemoryStore.new)
  def self.delete_tagged(*tags, cache: Application.cache)
    return cache.delete_tagged(*tags) if cache.respond_to?(:delete_tagged)

    Tagging.texts(tags).empty? || cache.clear
  end
end
