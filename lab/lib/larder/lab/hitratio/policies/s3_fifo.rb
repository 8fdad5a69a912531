# frozen_string_literal: true

require_relative "../chain"

module Larder
  module Lab
    module Hitratio
      module Policies
        # S3-FIFO as published (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023): a small
        # queue of a tenth, from which what was read twice goes to the main one; ghosts of as many bytes as the main
        # queue has.
        class S3Fifo < Policy
          Policies.register("s3fifo", self)

          SMALL = 0.1
          PROMOTED_AT = 2
          MOST = 3

          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            @small = Chain.new(trace.objects)
            @main = Chain.new(trace.objects)
            @ghosts = Chain.new(trace.objects)
            @small_capacity = (capacity * SMALL).to_i
            @main_capacity = capacity - @small_capacity
            @reads = Array.new(trace.objects, 0)
          end

          # See {Policy#request}; what follows is not looked at.
          # @return [Boolean] was it a hit?
          def request(object, size, _following)
            if @small.include?(object) || @main.include?(object)
              @reads[object] += 1 if @reads[object] < MOST
              return true
            end
            store(object, size) if size <= @capacity
            false
          end

          private

          def store(object, size)
            known = @ghosts.include?(object)
            @ghosts.delete(object) if known
            return if !known && size >= @small_capacity

            evict while @small.bytes + @main.bytes + size > @capacity
            @reads[object] = 0
            (known ? @main : @small).push(object, size)
          end

          def evict
            @main.bytes > @main_capacity || @small.count.zero? ? evict_main : evict_small
          end

          def evict_small
            object = @small.oldest
            size = @small.delete(object)
            if @reads[object] >= PROMOTED_AT
              @main.push(object, size)
            else
              remember(object, size)
            end
          end

          def remember(object, size)
            return if size > @main_capacity

            @ghosts.delete(@ghosts.oldest) while @ghosts.bytes + size > @main_capacity
            @ghosts.push(object, size)
          end

          def evict_main
            object = @main.oldest
            size = @main.delete(object)
            return if @reads[object].zero?

            @reads[object] -= 1
            @main.push(object, size)
          end
        end
      end
    end
  end
end
