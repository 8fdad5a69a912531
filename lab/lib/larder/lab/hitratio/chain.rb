# frozen_string_literal: true

module Larder
  module Lab
    # Replays traces of requests and counts misses: the engine beside published policies.
    module Hitratio
      # A queue of numbered objects that knows its bytes and lets go of any object in constant time: a doubly linked
      # list in two arrays, closed by a mark beyond the last object.
      class Chain
        # @return [Integer] bytes of all objects in it
        attr_reader :bytes

        # @return [Integer] how many objects are in it
        attr_reader :count

        # @param objects [Integer] numbers go from 0 to this, exclusive
        def initialize(objects)
          @mark = objects
          @newer = Array.new(objects + 1)
          @older = Array.new(objects + 1)
          @sizes = Array.new(objects)
          @newer[@mark] = @older[@mark] = @mark
          @bytes = 0
          @count = 0
        end

        # @param object [Integer]
        # @return [Boolean]
        def include?(object)
          !@newer[object].nil?
        end

        # @param object [Integer] not in it
        # @param size [Integer] bytes
        # @return [void]
        def push(object, size)
          newest = @older[@mark]
          @newer[newest] = object
          @older[object] = newest
          @newer[object] = @mark
          @older[@mark] = object
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
        # @return [void]
        def renew(object)
          push(object, delete(object))
        end

        # @return [Integer, nil] the object that came first, nil: it is empty
        def oldest
          object = @newer[@mark]
          object == @mark ? nil : object
        end

        # @param object [Integer] in it
        # @return [Integer] bytes
        def size_of(object)
          @sizes[object]
        end
      end
    end
  end
end
