# frozen_string_literal: true

# The default serializer: Larder's own bytes if a value has them, otherwise Marshal's.

module Larder
  module Codecs
    # Most entries of the file need none, see RecordFormat. Those of a remote store do.
    class TreeSerializer < Larder::Serializer
      NATIVE = Larder::Serializers::TABLE.fetch(:native)
      private_constant :NATIVE

      # @param options [Hash] as of Larder::Serializer, which say that nobody else writes to the store
      # @raise [ArgumentError] see Serializers.[]
      def initialize(**options)
        super(:marshal, **options)
      end

      private

      def encoded(value)
        bytes = Tree.dump(value, false)
        bytes ? [NATIVE, bytes] : super
      end
    end
  end
end
