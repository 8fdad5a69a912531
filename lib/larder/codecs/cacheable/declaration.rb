# frozen_string_literal: true

# Checks what a class declares with cached_with, and turns rows of its objects into bytes.

module Larder
  module Cacheable
    # See Cacheable::ClassMethods#cached_with.
    class Declaration
      # Of all names, and of schemas that are derived for entries of other declarations.
      MOST_CODECS = 32
      private_constant :MOST_CODECS

      # What is known in bytes of the fields: numbers of those with types, and that of a schema: which was given.
      # @api private
      Layout = Struct.new(:numbers, :schema)

      # @return [Class]
      attr_reader :type
      # @return [Integer]
      attr_reader :schema_version
      # @return [Symbol]
      attr_reader :serializer
      # @return [Symbol, nil]
      attr_reader :compressor
      # @return [Integer] bytes
      attr_reader :compress_threshold

      def initialize(type, serializer: :native, compressor: nil, compress_threshold: 1024, fields: nil, schema: nil,
                     schema_version: 1, serializer_options: {}, compressor_options: {}, **unknown)
        @type = type
        refuse(unknown.keys.first) if unknown.any?
        @serializer = Serializers::REGISTRY.check(serializer)
        @compressor = Compressors::REGISTRY.check(compressor) if compressor
        @compress_threshold = Codecs::Options.range(compress_threshold, 0..(1 << 40), "compress_threshold: of #{self}")
        @schema_version = Codecs::Options.range(schema_version, 0..(1 << 31), "schema_version: of #{self}")
        @types, @only = types_of(fields)
        @schema = schema_of(schema)
        @serializer_options = serializer_options
        @compressor_options = compressor_options
        @codecs = {}
        check_whole
        check_options
      end

      # @param name [Symbol] of a serializer; others than its own read what was written before
      # @param layout [Layout] of the rows
      # @return [Object] its codec for this type
      def codec(name, layout = self.layout)
        key = name == :protobuf ? [name, *layout] : name
        @codecs[key] || begin
          options = name == @serializer ? @serializer_options : {}
          options = options.merge(schema: schema_for(layout)) if name == :protobuf
          whose = "serializer #{name.inspect} of #{@type}"
          keep(key, Codecs::Options.build(Serializers::REGISTRY.find(name), whose, options))
        end
      end

      # @return [Object] the codec of a compressor
      def compressor_codec(name)
        @codecs[name] || begin
          options = name == @compressor ? @compressor_options : {}
          whose = "compressor #{name.inspect} of #{@type}"
          keep(name, Codecs::Options.build(Compressors::REGISTRY.find(name), whose, options))
        end
      end

      # @return [Layout] what is written now
      def layout
        @layout ||= Layout.new(@types ? @types.numbers : [], @schema && @serializer == :protobuf ? schema_number : nil)
      end

      # @param layout [Layout] of rows that are to be read
      # @raise [Larder::UnreadableError] fields had other types
      def check(layout)
        return if layout == self.layout || layout.numbers.empty?
        raise UnreadableError, "untyped (fields of #{@type}, which had types)" unless @types

        @types.check(layout.numbers)
      end

      # @param objects [Array<Object>]
      # @return [Array] what the serializer gets
      def rows(objects)
        return objects if whole?

        objects.map do |object|
          row = fields.take(object)
          @types ? @types.take(row, object.class, @serializer) : row
        end
      end

      # @param objects [Array<Object>]
      # @return [Array<Integer>] places of those that are records and no database has them yet
      def new_ones(objects)
        whole? ? [] : objects.each_index.select { |i| fields.new?(objects[i]) }
      end

      # @param rows [Array] what the serializer made
      # @param types [Array<Class>] the class of each, this type or a subclass
      # @param new_ones [Array<Integer>] see there
      # @param serializer [Symbol] which it was
      # @return [Array<Object>]
      # @raise [Larder::UnreadableError]
      def objects(rows, types, new_ones, serializer)
        is_new = new_ones.to_h { |place| [place, true] }
        rows.each_with_index.map do |row, i|
          next row if row.instance_of?(types[i]) # it was written whole
          raise UnreadableError, "damaged (a row is no Hash)" unless row.instance_of?(Hash)

          @types&.make(row, serializer)
          fields.make(types[i], row, is_new.key?(i))
        end
      end

      # @return [Boolean] does the serializer take objects as they are, with whatever belongs to them? Of records, that
      #   is what they have loaded.
      def whole?
        @only.nil? && (@serializer == :marshal || (@serializer == :message_pack && record?))
      end

      # @return [Boolean] is there something of its objects that must not be cached?
      def promises?
        !@only.nil?
      end

      # @return [Boolean] may its rows hold objects of declared classes, which are taken out?
      def mixes?
        !whole? && @types.nil?
      end

      # @return [String]
      def to_s
        "cached_with of #{@type}"
      end

      private

      def record?
        defined?(ActiveRecord::Base) && @type < ActiveRecord::Base
      end

      def fields
        @fields ||= Fields.for(@type, @only, typed: !@types.nil?)
      end

      def refuse(option)
        known = Declaration.instance_method(:initialize).parameters.filter_map do |kind, name|
          name.inspect if kind == :key
        end
        raise ::ArgumentError, "#{self} has no option #{option.inspect}; it takes #{known.join(", ")}; what codecs " \
                               "take goes into the last two, as in compressor_options: { level: 3 }"
      end

      # @return [Array(FieldTypes, Array<Symbol>)] types and names, where there are such
      def types_of(fields)
        case fields
        when nil then nil
        when Hash then [fields.empty? ? nil : FieldTypes.new(fields, @type.to_s), fields.keys.map(&:to_sym)]
        when Array then [nil, fields.map(&:to_sym)]
        else raise ::ArgumentError, "fields: of #{self} is #{fields.inspect}; it takes names, or names and types"
        end
      end

      def schema_of(given)
        if given && !given.respond_to?(:descriptor)
          raise ::ArgumentError, "schema: of #{self} is #{given.inspect}; it takes a message class of google-protobuf"
        end
        return given if given || @serializer != :protobuf

        unless @types
          raise ::ArgumentError, "serializer: :protobuf of #{self} needs schema: a message class, or fields: with " \
                                 "their types"
        end
        require "larder/codecs/serializers/protobuf_schema"
        @types.kinds.each_value { |kind| Serializers::ProtobufSchema.check(kind) }
        nil
      end

      # Their elements and characters are no fields.
      def check_whole
        kin = [Array, Hash, String].find { |plain| @type <= plain }
        return if kin.nil? || whole?

        raise ::ArgumentError, "#{self}: what is in #{kin} is no field; it takes serializer: :marshal without fields:"
      end

      # Codecs say what is wrong with options, so those that get some are made now.
      def check_options
        codec(@serializer) if @serializer_options.any?
        return if @compressor_options.empty?
        raise ::ArgumentError, "#{self} has compressor_options: and no compressor:" unless @compressor

        compressor_codec(@compressor)
      end

      def keep(key, codec)
        @codecs = {} if @codecs.size >= MOST_CODECS
        @codecs = @codecs.merge(key => codec)
        codec
      end

      def schema_number
        FieldTypes.number(@schema.descriptor.name, :schema)
      end

      # Rows are read by the schema that they were written by, if it is still there; derived ones are derived again.
      def schema_for(layout)
        if layout.schema
          return @schema if @schema && schema_number == layout.schema

          raise UnreadableError, "another schema (of #{@type})"
        end
        raise UnreadableError, "untyped (fields of #{@type}, which had types)" unless @types

        @types.schema(layout.numbers)
      end
    end
  end
end
