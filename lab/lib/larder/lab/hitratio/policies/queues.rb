# frozen_string_literal: true

require_relative "../chain"

module Larder
  module Lab
    module Hitratio
      module Policies
        # Evicts the object that was stored the longest ago.
        class Fifo < Policy
          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            @queue = Chain.new(@objects)
          end

          private

          def hit?(object)
            @queue.include?(object)
          end

          def store(object, size)
            @queue.delete(@queue.oldest) while @queue.bytes + size > @capacity
            @queue.push(object, size)
          end
        end

        # Evicts the object that was not requested for the longest time.
        class Lru < Fifo
          private

          def hit?(object)
            @queue.renew(object) if super
          end
        end

        register("lru", Lru)
        register("fifo", Fifo)
      end
    end
  end
end
