# frozen_string_literal: true

# ActiveSupport's JSON: what `as_json` returns for a value, as an API would send it.

require "active_support/json"
require "larder/codecs/serializers/json"

module Larder
  module Serializers
    # Loses types by design: Symbols, Times and records come back as Strings and Hashes.
    class ActiveSupportJson < Json
      # @return [String]
      def dump(value)
        ActiveSupport::JSON.encode(value)
      end
    end
  end
end
