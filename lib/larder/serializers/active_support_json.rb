# frozen_string_literal: true

# ActiveSupport's JSON: whatever `as_json` makes of a value, which is what an API would send.

require "active_support/json"
require "larder/serializers/json"

module Larder
  module Serializers
    # Loses types on purpose: Symbols, Times and records come back as Strings and Hashes.
    class ActiveSupportJson < Json
      # @return [String]
      def dump(value)
        ActiveSupport::JSON.encode(value)
      end
    end
  end
end
