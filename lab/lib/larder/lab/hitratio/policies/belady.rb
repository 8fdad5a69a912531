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
            hit = @sizes.key?(object)
            if following == Trace::NEVER
              @bytes -= @sizes.delete(object) if hit
              return hit
            end
            @next[object] = following
            return false if !hit && size > @capacity

            @bytes += @sizes[object] = size unless hit
            push([following, object])
            evict while @bytes > @capacity
            hit
          end

          private

          def prepare
            @sizes = {}
            @next = Array.new(@objects)
            @bytes = 0
            @heap = [] # [next request, object], the farthest first; an entry that is not the object's next one is old
          end

          def evict
            following, object = pop
            @bytes -= @sizes.delete(object) if @sizes.key?(object) && @next[object] == following
          end

          def push(entry)
            at = @heap.size
            while at.positive? && @heap[parent = (at - 1) / 2][0] < entry[0]
              @heap[at] = @heap[parent]
              at = parent
            end
            @heap[at] = entry
          end

          def pop
            top = @heap[0]
            entry = @heap.pop
            at = 0
            while (child = (2 * at) + 1) < @heap.size
              child += 1 if child + 1 < @heap.size && @heap[child + 1][0] > @heap[child][0]
              break if entry[0] >= @heap[child][0]

              @heap[at] = @heap[child]
              at = child
            end
            @heap[at] = entry unless @heap.empty?
            top
          end
        end
      end
    end
  end
end
