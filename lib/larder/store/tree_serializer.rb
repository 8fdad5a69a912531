# frozen_string_literal: true

# The default serializer: Larder's own bytes if a value has them, otherwise Marshal's. Most entries need none, see
# Entries#plain_record.

module Larder
  module Store
    # Frames without checksums, as the engine has one for each record.
    class TreeSerializer < Larder::Serializer
      NATIVE = Larder::Serializers::TABLE.fetch(:native)
      private_constant :NATIVE

      def initialize
        super(:marshal, trusted: true, checksum: false)
      end

      # @param value [Object]
      # @return [String] a frame
      def dump(value)
        bytes = Tree.dump(value, false)
        bytes ? Codecs::Frame.value(NATIVE, bytes, checksum: false) : super
      end
    end
  end
end
