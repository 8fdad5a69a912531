# frozen_string_literal: true

module Larder
  module Lab
    module Hitratio
      module Policies
        # Evicts the object that was stored the longest ago.
        class Fifo < Policy
          private

          def prepare = @queue = Chain.new

          def hit?(object) = @queue.include?(object)

          def store(object, size)
            @queue.delete(@queue.oldest) while @queue.bytes + size > @capacity
            @queue.push(object, size)
          end
        end

        # Evicts the object that was not requested for the longest time.
        class Lru < Fifo
          private

          def hit?(object) = super && @queue.renew(object)
        end

        register("lru", Lru)
        register("fifo", Fifo)

        # S3-FIFO as published (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023): a small
        # queue of a tenth, whose objects go to the main one if they were read twice; ghosts of as many bytes as the
        # main queue has.
        class S3Fifo < Policy
          Policies.register("s3fifo", self)

          SMALL = 0.1
          PROMOTED_AT = 2
          MOST_READS = 3

          private

          def prepare
            @small, @main, @ghosts = chains(3)
            @small_capacity = (@capacity * SMALL).to_i
            @main_capacity = @capacity - @small_capacity
            @reads = Hash.new(0)
          end

          def hit?(object)
            return false unless @small.include?(object) || @main.include?(object)

            @reads[object] += 1 if @reads[object] < MOST_READS
            true
          end

          def store(object, size)
            @ghosts.delete(object) if (known = @ghosts.include?(object))
            return if !known && size >= @small_capacity

            evict while @small.bytes + @main.bytes + size > @capacity
            @reads[object] = 0
            (known ? @main : @small).push(object, size)
          end

          def evict
            return evict_main if @main.bytes > @main_capacity || @small.count.zero?
            return @small.pass(@main) if @reads[@small.oldest] >= PROMOTED_AT

            object = @small.oldest
            remember(object, @small.delete(object))
          end

          def remember(object, size)
            return if size > @main_capacity

            @ghosts.delete(@ghosts.oldest) while @ghosts.bytes + size > @main_capacity
            @ghosts.push(object, size)
          end

          def evict_main
            object = @main.oldest
            return @main.delete(object) if @reads[object].zero?

            @reads[object] -= 1
            @main.renew(object)
          end
        end
      end
    end
  end
end
