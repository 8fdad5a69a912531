# frozen_string_literal: true

# Serializers by Rails' names, with Rails' own errors.

module Larder
  module Store
    # Larder's frames around the bytes of Rails' serializer, so that it reads what any other of Larder's wrote.
    class RailsSerializer < Larder::Serializer
      # Rails' names, with Larder's of the same.
      NAMES = { marshal_7_0: :marshal, marshal_7_1: :marshal, # rubocop:disable Naming/VariableNumber
                message_pack: :message_pack }.freeze
      private_constant :NAMES

      # @param name [Symbol]
      # @return [RailsSerializer, nil] nil where Rails has no serializer of that name
      def self.named(name)
        new(NAMES.fetch(name), trusted: true, checksum: false) if NAMES.key?(name)
      end

      # @param value [Object]
      # @return [String] a frame
      # @raise [StandardError] what Rails' own serializer of the name raises
      def dump(value)
        super
      rescue UnserializableError => e
        raise e.cause || e
      end
    end
  end
end
