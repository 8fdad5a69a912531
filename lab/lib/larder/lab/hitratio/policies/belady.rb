# frozen_string_literal: true

module Larder
  module Lab
    module Hitratio
      module Policies
        # What will not be asked for the longest leaves, or does not come in: the fewest misses there can be where all
        # objects are of one size (Belady, 1966), and the usual yardstick where they are not.
        class Belady < Policy
          Policies.register("belady", self)

          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            @sizes = {}
            @next = Array.new(trace.objects)
            @bytes = 0
            @heap = [] # [next request, object], the farthest first; an entry that is not the object's next one is old
          end

          # (see Policy#request)
          def request(object, size, following)
            hit = @sizes.key?(object)
            if following == Trace::NEVER
              @bytes -= @sizes.delete(object) if hit
              return hit
            end
            @next[object] = following
            unless hit
              return false if size > @capacity

              @sizes[object] = size
              @bytes += size
            end
            push(following, object)
            evict while @bytes > @capacity
            hit
          end

          private

          def evict
            following, object = pop
            return unless @sizes.key?(object) && @next[object] == following

            @bytes -= @sizes.delete(object)
          end

          def push(following, object)
            at = @heap.size
            entry = [following, object]
            while at.positive?
              parent = (at - 1) / 2
              break if @heap[parent][0] >= following

              @heap[at] = @heap[parent]
              at = parent
            end
            @heap[at] = entry
          end

          def pop
            top = @heap[0]
            entry = @heap.pop
            sink(entry) unless @heap.empty?
            top
          end

          def sink(entry)
            at = 0
            while (child = (2 * at) + 1) < @heap.size
              child += 1 if child + 1 < @heap.size && @heap[child + 1][0] > @heap[child][0]
              break if entry[0] >= @heap[child][0]

              @heap[at] = @heap[child]
              at = child
            end
            @heap[at] = entry
          end
        end
      end
    end
  end
end
