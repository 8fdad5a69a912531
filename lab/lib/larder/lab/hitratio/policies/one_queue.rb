# frozen_string_literal: true

require_relative "../chain"

module Larder
  module Lab
    module Hitratio
      module Policies
        # The oldest in one queue leaves. A subclass says what a hit does to the queue.
        class OneQueue < Policy
          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            @queue = Chain.new(trace.objects)
          end

          # See {Policy#request}; what follows is not looked at.
          # @return [Boolean] was it a hit?
          def request(object, size, _following)
            if @queue.include?(object)
              hit(object)
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
