# frozen_string_literal: true

module Larder
  module Lab
    # Replays traces of requests and counts misses: in the engine, and in simulations of published policies.
    module Hitratio
      # A queue of numbered objects with their bytes, from which any object is removed in constant time: a doubly linked
      # list in two arrays, closed by a mark after the last object.
      class Chain
        # @return [Integer] of all objects in it
        attr_reader :bytes, :count

        # @param objects [Integer] numbers are less than this
        def initialize(objects)
          @mark = objects
          @newer, @older, @sizes = Array.new(3) { Array.new(objects + 1) }
          @newer[@mark] = @older[@mark] = @mark
          @bytes = @count = 0
        end

        # @return [Boolean]
        def include?(object) = !@newer[object].nil?

        # @param object [Integer] not in it
        # @param size [Integer] bytes
        def push(object, size)
          newest = @older[@mark]
          @newer[newest] = @older[@mark] = object
          @older[object] = newest
          @newer[object] = @mark
          @sizes[object] = size
          @bytes += size
          @count += 1
        end

        # @param object [Integer] in it
        # @return [Integer] its bytes
        def delete(object)
          newer = @newer[object]
          older = @older[object]
          @newer[older] = newer
          @older[newer] = older
          @newer[object] = nil
          @count -= 1
          size = @sizes[object]
          @bytes -= size
          size
        end

        # Makes it the newest.
        # @param object [Integer] in it
        def renew(object) = push(object, delete(object))

        # Makes its oldest object the newest of another one.
        # @return [Integer] the object
        def pass(other)
          object = oldest
          other.push(object, delete(object))
          object
        end

        # @return [Integer, nil] nil: it is empty
        def oldest
          object = @newer[@mark]
          object == @mark ? nil : object
        end
      end
    end
  end
end
