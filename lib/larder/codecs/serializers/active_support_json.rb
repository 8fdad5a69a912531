# frozen_string_literal: true

# ActiveSupport's JSON: what `as_json` returns for a value, as an API would send it.

require "active_support/json"
require "larder/codecs/serializers/json"

module Larder
  module Serializers
    # Loses types by design: Symbols, Times and records come back as Strings and Hashes.
    class ActiveSupportJson < Json
      # @return [String]
      # @raise [Larder::UnserializableError] lists in lists, deeper than max_depth: or than the library writes
      def dump(value)
        text = ActiveSupport::JSON.encode(value)
        JsonCheck.deeper?(text, @max_depth) ? too_deep(value) : text
      rescue ::JSON::NestingError
        too_deep(value)
      end

      private

      def too_deep(value)
        raise UnserializableError, "active_support_json cannot bring back #{UnserializableError.kind_of(value)}: it " \
                                   "has more lists in each other than max_depth: (#{@max_depth}) or the gem json allow"
      end
    end
  end
end
