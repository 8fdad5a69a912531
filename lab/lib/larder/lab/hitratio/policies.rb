# frozen_string_literal: true

# The list of policies. A new one registers itself in a file of policies/.

require "larder/cli/registry"
require_relative "chain"

module Larder
  module Lab
    module Hitratio
      # Eviction policies, by the names users type.
      module Policies
        extend CLI::Registry
        holds "policy"
      end

      # A cache of a given size. A simulated one counts bytes of objects alone: it has no overhead. A subclass has
      # `prepare`, `hit?(object)` and `store(object, size)`, which is called after a miss of an object that fits.
      class Policy
        # @param capacity [Integer] bytes
        # @param trace [Trace]
        def initialize(capacity, trace)
          @capacity = capacity
          @trace = trace
          prepare
        end

        # One request: an absent object is stored afterwards.
        # @param size [Integer] bytes
        # @param _following [Integer] number of the next request for it, for a policy that knows the future
        # @return [Boolean] was it a hit?
        def request(object, size, _following)
          return true if hit?(object)

          store(object, size) if size <= @capacity
          false
        end

        # @return [Integer, nil] bytes of the objects that are there, where that is not all that the cache takes
        def net_bytes; end

        # Releases everything outside of Ruby.
        def close; end

        private

        def chains(count) = Array.new(count) { Chain.new }
      end
    end
  end
end

require_relative "policies/larder"
require_relative "policies/queues"
require_relative "policies/recency"
require_relative "policies/belady"
