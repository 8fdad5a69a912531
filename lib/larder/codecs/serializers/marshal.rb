# frozen_string_literal: true

# Ruby's Marshal.

module Larder
  module Serializers
    # Restores everything that Ruby can, and makes any object that its bytes name.
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
