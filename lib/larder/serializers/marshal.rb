# frozen_string_literal: true

# Ruby's own Marshal.

module Larder
  module Serializers
    # Brings everything back that Ruby can, and makes whatever object its bytes ask for.
    class Marshal
      RUNS_CODE = true
      MAKES_OBJECTS = true

      # @return [String]
      # @raise [TypeError] Marshal's own, of a Proc, an IO, …
      def dump(value)
        ::Marshal.dump(value)
      end

      # @return [Object]
      def load(payload)
        ::Marshal.load(payload) # -- Larder::Serializer saw that it is trusted or signed
      end
    end
  end
end
