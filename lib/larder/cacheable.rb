# frozen_string_literal: true

# Lets a class declare how its objects are cached. cacheable/declaration.rb and cacheable/frame.rb have the bytes,
# cacheable/fields.rb and cacheable/field_types.rb turn an object into fields and back, and cacheable/mixture.rb and
# cacheable/promise.rb treat objects among other values.

require "larder/cacheable/field_types"
require "larder/cacheable/fields"
require "larder/cacheable/declaration"
require "larder/cacheable/mixture"
require "larder/cacheable/promise"
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
  # Every store whose serializer is one of Larder's, and Larder's own stores, follow it, wherever an object stands in a
  # value of Arrays, Hashes, Sets, Structs, Data and records. What is in any other container, as an OpenStruct or a
  # relation, is the store's serializer's affair, unless the class names `fields:`: then it is refused, for nothing else
  # of an object is ever cached. Subclasses inherit it. What was written under another declaration of the class stays
  # readable, until `schema_version:` or the type of a field changes.
  module Cacheable
    CLASS_OF = ::Kernel.instance_method(:class)
    private_constant :CLASS_OF

    @used = false

    class << self
      # @private
      def included(type)
        @used = true
        type.extend(ClassMethods)
      end

      # @return [Boolean] does any class include it?
      def used?
        @used
      end

      # @param value [Object]
      # @return [Declaration, nil] of an object, or of all objects of an Array or Hash
      def of(value)
        case value
        when Cacheable then of_object(value)
        when Array then shared(value) if value.instance_of?(Array)
        when Hash then shared(value.values, value.keys) if plain_hash?(value)
        end
      end

      # @return [Declaration, nil]
      def of_object(object)
        case object
        when Cacheable then of_type(class_of(object))
        end
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

      # One declaration for all of them; else nobody's.
      def shared(objects, keys = [])
        return if objects.empty?

        first = of_object(objects.first)
        first if first && objects.all? { |object| of_object(object).equal?(first) } &&
                 keys.none? { |key| of_object(key) }
      end

      # Is it nothing but a Hash?
      def plain_hash?(value)
        value.instance_of?(Hash) && value.default.nil? && value.default_proc.nil? && !value.compare_by_identity?
      end
    end

    # @private
    def extend(*)
      super.tap { Guard.cover(singleton_class) if Cacheable.of_object(self) }
    end

    private

    def singleton_method_added(name)
      super
      Guard.cover(singleton_class) if Guard.concerns?(name) && Cacheable.of_object(self)
    end

    # What `include Larder::Cacheable` gives a class.
    module ClassMethods
      # Declares how objects of this class are cached.
      #
      # @param serializer [Symbol] one of Larder::Serializers.names; whatever the store's is
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
      def cached_with(serializer: :native, compressor: nil, compress_threshold: 1024, fields: nil, schema: nil,
                      schema_version: 1, **options)
        @cache_declaration = Declaration.new(
          self, serializer: serializer, compressor: compressor, compress_threshold: compress_threshold, fields: fields,
                schema: schema, schema_version: schema_version, **options
        )
        Guard.cover(self)
        @cache_declaration
      end

      # @private
      def inherited(type)
        super
        Guard.cover(type) if cache_declaration
      end

      # @private
      def method_added(name)
        super
        Guard.cover(self) if Guard.concerns?(name) && cache_declaration
      end

      # @private
      def include(*)
        super.tap { Guard.cover(self) if cache_declaration }
      end

      # @private
      def prepend(*modules)
        super.tap { Guard.cover(self) if cache_declaration && modules.none?(Guard) }
      end

      # @return [Larder::Cacheable::Declaration, nil] its own, or the one that it inherits
      def cache_declaration
        @cache_declaration || Cacheable.of_type(superclass)
      end
    end
  end
end
