# frozen_string_literal: true

require_relative "profiles"

module Larder
  module Lab
    module Advice
      # Stores that by default do otherwise than Rails' others.
      OWN_WAYS = %w[larder memory].freeze

      # What one can choose: names of a store, a serializer and a compressor.
      Choice = Struct.new(:store, :serializer, :compressor) do
        # @return [Profile]
        def profile
          Profiles.fetch(store)
        end

        # @return [Boolean] the store of Larder without any option
        def plain?
          store == "larder" && serializer == "larder" && compressor == "none"
        end

        # @return [Boolean] what Rails does that was told nothing
        def rails_default?
          serializer == "marshal" && compressor == "zlib" && !OWN_WAYS.include?(store)
        end

        # @return [String] "redis + message_pack + zstd-3"
        def to_s
          names = [store]
          names << serializer unless serializer == "larder"
          names << compressor unless compressor == "none"
          names.join(" + ")
        end
      end
    end
  end
end
