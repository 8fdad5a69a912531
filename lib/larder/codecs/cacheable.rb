# frozen_string_literal: true

# Lets a class declare how its objects are cached. cacheable/declaration.rb and cacheable/frame.rb have the bytes,
# cacheable/fields.rb and cacheable/field_types.rb turn an object into fields and back, and cacheable/mixture.rb and
# cacheable/promise.rb treat objects among other values.

require "larder/codecs/cacheable/field_types"
require "larder/codecs/cacheable/fields"
require "larder/codecs/cacheable/declaration"
require "larder/codecs/cacheable/mixture"
require "larder/codecs/cacheable/promise"
require "larder/codecs/cacheable/input"
require "larder/codecs/cacheable/frame"

module Larder
  # Includes `cached_with` into a class: a Struct, a Data, an ActiveModel, an ActiveRecord or any other.
  #
  #   class Book
  #     include Larder::Cacheable
  #
  #     cached_with serializer: :protobuf, compressor: :zstd, fields: { id: :integer, title: :string }
  #   end
  #
  # The declaration applies in Larder's own stores and in every store whose serializer is one of Larder's, wherever an
  # object is in a value of Arrays, Hashes, Sets, Structs, Data and records. In any other container, such as an
  # OpenStruct or a relation, the store's serializer writes the object; if the class names `fields:`, the value is
  # refused instead, because nothing else of an object is ever cached. Subclasses inherit the declaration. Entries of a
  # former declaration stay readable until `schema_version:` or the type of a field changes.
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

      # The class, also of a BasicObject.
      #
      # @return [Class]
      def class_of(object)
        CLASS_OF.bind_call(object)
      end

      # A class may have a method cache_declaration that is not Larder's.
      #
      # @return [Declaration, nil]
      def of_type(type)
        type.cache_declaration if @used && type.is_a?(ClassMethods)
      end

      private

      # The declaration that all objects share, or nil.
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

    # The methods that `include Larder::Cacheable` adds to a class.
    module ClassMethods
      # Declares how objects of this class are cached.
      #
      # @param serializer [Symbol] one of Larder::Serializers.names, used instead of the store's
      # @param compressor [Symbol, nil] one of Larder::Compressors.names
      # @param compress_threshold [Integer] the least bytes that are compressed
      # @param fields [Array<Symbol>, Hash{Symbol => Symbol}, nil] the fields that are cached, with ActiveModel's names
      #   of types (`:integer`, `:datetime`, …) for values that the serializer alone would not restore; nil: all fields.
      #   A value of another type is refused. Integers have 8 bytes. A time comes back as a Time in UTC with
      #   nanoseconds, or in a record as Rails makes it. A :binary field is a binary String.
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
