# frozen_string_literal: true

# The list of policies. A new one is one file in policies/ and one line at the end of this file.

require "larder/cli/registry"

module Larder
  module Lab
    module Hitratio
      # What decides who stays in a cache, by the names users type.
      module Policies
        extend CLI::Registry
        holds "policy"
      end

      # One cache of a given size under test. A simulated one counts bytes of objects alone: it has no overhead.
      class Policy
        # @param capacity [Integer] bytes
        # @param trace [Trace]
        def initialize(capacity, trace)
          @capacity = capacity
          @trace = trace
        end

        # One request: an object that is not there is stored afterwards.
        # @param object [Integer]
        # @param size [Integer] bytes
        # @param following [Integer] number of the next request for it, for a policy that sees the future
        # @return [Boolean] was it there?
        def request(object, size, following)
          raise NotImplementedError
        end

        # @return [Hash{Symbol => Integer}, nil] what it counted itself; nil: nothing
        def stats; end

        # Lets go of what it holds outside of Ruby.
        # @return [void]
        def close; end
      end
    end
  end
end

require_relative "policies/larder"
require_relative "policies/lru"
require_relative "policies/fifo"
require_relative "policies/arc"
require_relative "policies/s3_fifo"
require_relative "policies/steered"
require_relative "policies/lirs"
require_relative "policies/w_tinylfu"
require_relative "policies/w_tinylfu_climbing"
require_relative "policies/belady"
