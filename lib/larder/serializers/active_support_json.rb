# frozen_string_literal: true

# ActiveSupport's JSON: whatever `as_json` makes of a value, which is what an API would send.

require "active_support/json"

module Larder
  module Serializers
    # Loses types on purpose: Symbols, Times and records come back as Strings and Hashes.
    class ActiveSupportJson
      RUNS_CODE = false
      MAKES_OBJECTS = false

      def initialize(max_depth: 100)
        @max_depth = max_depth
      end

      # @return [String]
      def dump(value)
        ActiveSupport::JSON.encode(value)
      end

      # @return [Object]
      def load(payload)
        ::JSON.parse(payload.force_encoding(Encoding::UTF_8), max_nesting: @max_depth, create_additions: false)
      end
    end
  end
end
