# frozen_string_literal: true

module Larder
  module Lab
    # Replays traces of requests and counts misses: in the engine, and in simulations of published policies.
    module Hitratio
      # A queue of objects with their bytes, from which any object is removed in constant time: a Hash keeps the order
      # in which keys were added.
      class Chain
        # @return [Integer] of all objects in it
        attr_reader :bytes

        def initialize
          @sizes = {}
          @bytes = 0
        end

        # @return [Integer] objects
        def count = @sizes.size

        # @return [Boolean]
        def include?(object) = @sizes.key?(object)

        # @param object [Integer] not in it
        # @param size [Integer] bytes
        def push(object, size)
          @bytes += size
          @sizes[object] = size
        end

        # @param object [Integer] in it
        # @return [Integer] its bytes
        def delete(object) = @sizes.delete(object).tap { |size| @bytes -= size }

        # Makes it the newest.
        # @param object [Integer] in it
        def renew(object) = @sizes[object] = @sizes.delete(object)

        # Makes its oldest object the newest of another one.
        def pass(other)
          object = oldest
          other.push(object, delete(object))
        end

        # @return [Integer, nil] nil: it is empty
        def oldest = @sizes.first&.first
      end
    end
  end
end
