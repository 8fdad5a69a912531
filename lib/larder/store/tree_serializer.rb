# frozen_string_literal: true

# The serializer of a store that was given none: Larder's own bytes where there are such, Marshal's for the rest. Most
# entries need none, see Entries#plain_record.

module Larder
  module Store
    # Frames without checksums, for the engine has one for each record.
    class TreeSerializer < Larder::Serializer
      NATIVE = Larder::Serializers::TABLE.fetch(:native)
      private_constant :NATIVE

      def initialize
        super(:marshal, trusted: true, checksum: false)
      end

      # @param value [Object]
      # @return [String] a frame
      def dump(value)
        bytes = Larder.__send__(:_tree_dump, value, false)
        bytes ? Codecs::Frame.value(NATIVE, bytes, checksum: false) : super
      end
    end
  end
end
