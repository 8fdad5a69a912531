# frozen_string_literal: true

# JSON (RFC 8259) with Ruby's own library, for values that JSON can represent.

require "json"
require "larder/larder"

module Larder
  module Serializers
    # Every language can read it. Refuses a value that would come back as another one.
    class Json
      RUNS_CODE = false
      MAKES_OBJECTS = false

      # @param max_depth [Integer] lists in lists that are written and read
      def initialize(max_depth: 100)
        @max_depth = max_depth
      end

      # @return [String]
      # @raise [Larder::UnserializableError] a Symbol, a Time, NaN, bytes that are no UTF-8, …
      def dump(value)
        offender = JsonCheck.offender(value, @max_depth)
        refuse(offender.first) if offender

        ::JSON.generate(value, max_nesting: @max_depth)
      end

      # @return [Object]
      def load(payload)
        ::JSON.parse(payload.force_encoding(Encoding::UTF_8), max_nesting: @max_depth)
      end

      private

      def refuse(offender)
        raise UnserializableError, "json cannot bring back #{UnserializableError.kind_of(offender)}; :native, " \
                                   ":message_pack and :marshal can, and :active_support_json writes it as Rails' " \
                                   "APIs would"
      end
    end
  end
end
