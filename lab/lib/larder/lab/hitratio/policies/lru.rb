# frozen_string_literal: true

require_relative "../chain"

module Larder
  module Lab
    module Hitratio
      module Policies
        # What was not asked for the longest leaves.
        class Lru < Policy
          Policies.register("lru", self)

          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            @queue = Chain.new(trace.objects)
          end

          # See {Policy#request}; what follows is not looked at.
          # @return [Boolean] was it a hit?
          def request(object, size, _following)
            if @queue.include?(object)
              @queue.renew(object)
              return true
            end
            if size <= @capacity
              @queue.delete(@queue.oldest) while @queue.bytes + size > @capacity
              @queue.push(object, size)
            end
            false
          end
        end
      end
    end
  end
end
