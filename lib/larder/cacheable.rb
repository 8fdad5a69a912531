# frozen_string_literal: true

# Lets a class say how its objects are cached. What that means for bytes is in cacheable/declaration.rb and
# cacheable/frame.rb, how an object becomes fields and back in cacheable/fields.rb and cacheable/field_types.rb, and
# what becomes of objects among other values in cacheable/mixture.rb.

require "larder/cacheable/field_types"
require "larder/cacheable/fields"
require "larder/cacheable/declaration"
require "larder/cacheable/mixture"
require "larder/cacheable/input"
require "larder/cacheable/frame"

module Larder
  # Includes `cached_with` into a class: a Struct, a Data, an ActiveModel, an ActiveRecord or any other.
  #
  #   class Book
  #     include Larder::Cacheable
  #
  #     cached_with serializer: :protobuf, compressor: :zstd, fields: { id: :integer, title: :string }
  #   end
  #
  # Every store whose serializer is one of Larder's, and Larder's own stores, follow it: for an object, for an Array of
  # such objects or a Hash with them as values, and for Arrays and Hashes that hold them among other things, where an
  # object is among the first few or the store's serializer alone knows no way. Any other container, a Set or a Hash
  # with a default, is the store's serializer's affair. Subclasses inherit it. What was written under another
  # declaration of the class stays readable, until `schema_version:` or the type of a field changes.
  module Cacheable
    CLASS_OF = ::Kernel.instance_method(:class)
    private_constant :CLASS_OF

    @included = false

    class << self
      # @private
      def included(type)
        @included = true
        type.extend(ClassMethods)
      end

      # @param value [Object]
      # @return [Declaration, nil] of an object, or of all objects of an Array or Hash
      # @return [Mixture] of an Array or Hash that holds such objects among other things
      def of(value)
        return unless @included

        if value.instance_of?(Array) then of_all(value, value)
        elsif Mixture.plain_hash?(value) then of_all(value, value.values)
        else of_object(value)
        end
      end

      # @return [Declaration, nil]
      def of_object(object)
        of_type(class_of(object))
      end

      # Of a BasicObject, too.
      #
      # @return [Class]
      def class_of(object)
        CLASS_OF.bind_call(object)
      end

      # Classes may have a cache_declaration of their own, which is none of these.
      #
      # @return [Declaration, nil]
      def of_type(type)
        type.cache_declaration if type.is_a?(ClassMethods)
      end

      private

      def of_all(value, objects)
        shared(objects) || (Mixture.of(value) if Mixture.likely?(value))
      end

      # One declaration for all of them; else nobody's.
      def shared(objects)
        return if objects.empty?

        first = of_object(objects.first)
        first if first && objects.all? { |object| of_object(object).equal?(first) }
      end
    end

    # What `include Larder::Cacheable` gives a class.
    module ClassMethods
      # Declares how objects of this class are cached.
      #
      # @param serializer [Symbol] one of Larder::Serializers.names
      # @param compressor [Symbol, nil] one of Larder::Compressors.names
      # @param compress_threshold [Integer] bytes from which on it compresses
      # @param fields [Array<Symbol>, Hash{Symbol => Symbol}, nil] what of an object is kept, with types as ActiveModel
      #   calls them (`:integer`, `:datetime`, …) where the serializer alone would not bring them back; nil: all of it.
      #   A value of another type is refused. Integers have 8 bytes; a time is a Time in UTC when it comes back, with
      #   its nanoseconds, or of a record what Rails makes of it; what is :binary is a binary String.
      # @param schema [Class, nil] of google-protobuf, for serializer: :protobuf
      # @param schema_version [Integer] entries of another one are misses
      # @param options [Hash] `level:` and others of the codecs, as `serializer_options:` and `compressor_options:`;
      #   they are checked at once, which loads the codec's gem
      # @return [Larder::Cacheable::Declaration]
      # @raise [ArgumentError] names what is wrong
      def cached_with(serializer:, compressor: nil, compress_threshold: 1024, fields: nil, schema: nil,
                      schema_version: 1, **options)
        @cache_declaration = Declaration.new(
          self, serializer: serializer, compressor: compressor, compress_threshold: compress_threshold, fields: fields,
                schema: schema, schema_version: schema_version, **options
        )
      end

      # @return [Larder::Cacheable::Declaration, nil] its own, or the one that it inherits
      def cache_declaration
        @cache_declaration || Cacheable.of_type(superclass)
      end
    end
  end
end
