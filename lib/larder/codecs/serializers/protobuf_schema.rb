# frozen_string_literal: true

# Makes a message class of google-protobuf from the names and types of fields that a class declares.

module Larder
  module Serializers
    # The numbers of fields are given (see Cacheable::FieldTypes), or follow the order of the fields.
    module ProtobufSchema
      TYPES = { integer: :TYPE_SINT64, big_integer: :TYPE_SINT64, string: :TYPE_STRING, text: :TYPE_STRING,
                immutable_string: :TYPE_STRING, boolean: :TYPE_BOOL, float: :TYPE_DOUBLE, binary: :TYPE_BYTES,
                date: :TYPE_STRING, datetime: :TYPE_STRING, time: :TYPE_STRING, decimal: :TYPE_STRING }.freeze

      # @param fields [Hash{String => Symbol}] names and types
      # @param numbers [Hash{String => Integer}] of the fields, from 1
      # @return [Class]
      # @raise [ArgumentError] a type has no equivalent in Protobuf
      def self.of(fields, numbers = fields.keys.each_with_index.to_h { |name, i| [name, i + 1] })
        fields.each_value { |type| check(type) }
        Codecs::OptionalGems.need("google/protobuf", gem: "google-protobuf", who: "serializer :protobuf")
        require "google/protobuf/descriptor_pb"
        pool = Google::Protobuf::DescriptorPool.new
        pool.add_serialized_file(file(fields, numbers).to_proto)
        pool.lookup("larder.Row").msgclass
      end

      # @param type [Symbol]
      # @raise [ArgumentError] it has no equivalent in Protobuf
      def self.check(type)
        return if TYPES.key?(type)

        raise ::ArgumentError, "a field of type #{type.inspect} has no equivalent in Protobuf; give schema: a " \
                               "message class, or one of #{TYPES.keys.map(&:inspect).join(", ")}"
      end

      def self.file(fields, numbers)
        Google::Protobuf::FileDescriptorProto.new(
          name: "larder.proto", package: "larder", syntax: "proto3",
          message_type: [Google::Protobuf::DescriptorProto.new(
            name: "Row", field: fields.each_with_index.map { |(name, type), i| field(name, type, numbers[name], i) },
            oneof_decl: fields.keys.map { |name| Google::Protobuf::OneofDescriptorProto.new(name: "_#{name}") }
          )]
        )
      end

      # All optional, so that nil comes back as nil.
      def self.field(name, type, number, index)
        Google::Protobuf::FieldDescriptorProto.new(name: name, number: number, label: :LABEL_OPTIONAL,
                                                   type: TYPES.fetch(type), proto3_optional: true, oneof_index: index)
      end
      private_class_method :file, :field
    end
  end
end
