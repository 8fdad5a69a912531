# frozen_string_literal: true

module Larder
  module Lab
    module Hitratio
      module Policies
        # Evicts, or does not store, the object whose next request is farthest away: the fewest misses that are possible
        # with objects of one size (Belady, 1966), and the usual yardstick with others.
        class Belady < Policy
          Policies.register("belady", self)

          # As {Policy#request}.
          # @return [Boolean]
          def request(object, size, following)
            hit = @held.include?(object)
            if following == Trace::NEVER
              @held.delete(object) if hit
              return hit
            end
            @next[object] = following
            return hit if !hit && size > @capacity

            @held.push(object, size) unless hit
            push(following)
            evict while @held.bytes > @capacity
            hit
          end

          private

          def prepare
            @held = Chain.new
            @next = []
            @heap = [] # numbers of requests, the farthest first; one that is not the next of its object is old
          end

          def evict
            following = pop
            object = @trace.requests[following]
            @held.delete(object) if @next[object] == following && @held.include?(object)
          end

          def push(number)
            at = @heap.size
            while at.positive? && @heap[parent = (at - 1) / 2] < number
              @heap[at] = @heap[parent]
              at = parent
            end
            @heap[at] = number
          end

          def pop
            top = @heap.first
            number = @heap.pop
            at = 0
            while (child = (2 * at) + 1) < @heap.size
              child += 1 if child + 1 < @heap.size && @heap[child + 1] > @heap[child]
              break if number >= @heap[child]

              @heap[at] = @heap[child]
              at = child
            end
            @heap[at] = number unless @heap.empty?
            top
          end
        end
      end
    end
  end
end
