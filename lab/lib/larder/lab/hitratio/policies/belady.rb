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
          def request(object, size, following)
            if (hit = @held.include?(object))
              size = @held.delete(object)
              @next.pop # this request: no other is nearer
            end
            hold(object, size, following) unless following == Trace::NEVER || size > @capacity
            hit
          end

          private

          # The numbers of the next requests for the objects that it holds are in order, the farthest first.
          def prepare
            @held = Chain.new
            @next = []
          end

          def hold(object, size, following)
            @held.push(object, size)
            @next.insert(@next.bsearch_index { |number| number < following } || -1, following)
            @held.delete(@trace.requests[@next.shift]) while @held.bytes > @capacity
          end
        end
      end
    end
  end
end
