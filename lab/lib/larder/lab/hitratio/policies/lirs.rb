# frozen_string_literal: true

require_relative "../chain"

module Larder
  module Lab
    module Hitratio
      module Policies
        # LIRS as published (Jiang, Zhang, "LIRS: an efficient low inter-reference recency set replacement policy",
        # SIGMETRICS 2002): objects that came back soon, of 99 % of the bytes, stay; the others pass through a queue
        # that has room for two at least. A stack of requests, whose bottom is pruned, says which objects came back
        # soon, also of evicted ones. It remembers evicted objects of twice as many bytes as the cache has.
        class Lirs < Policy
          Policies.register("lirs", self)

          QUEUE = 0.01
          LEAST = 2
          REMEMBERED = 2

          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            @stack, @stays, @queue, @ghosts = Array.new(4) { Chain.new(@objects) }
            mean = trace.footprint.fdiv([@objects, 1].max)
            @stays_capacity = capacity - [capacity * QUEUE, LEAST * mean].max.ceil
          end

          private

          def hit?(object)
            stays = @stays.include?(object)
            return false unless stays || @queue.include?(object)

            recent = @stack.include?(object)
            stack(object)
            if stays
              prune
            elsif recent
              stay(object, @queue.delete(object))
            else
              @queue.renew(object)
            end
            true
          end

          def store(object, size)
            make_room(size)
            recent = @ghosts.include?(object)
            @ghosts.delete(object) if recent
            stack(object)
            recent || @stays.bytes + size <= @stays_capacity ? stay(object, size) : @queue.push(object, size)
          end

          # The stack is an order alone: its objects take no bytes there.
          def stack(object)
            @stack.include?(object) ? @stack.renew(object) : @stack.push(object, 0)
          end

          def stay(object, size)
            @stays.push(object, size)
            leave_stay while @stays.bytes > @stays_capacity
          end

          # The bottom of the stack is the object whose last return took longest.
          def leave_stay
            prune
            bottom = @stack.oldest
            @stack.delete(bottom)
            @queue.push(bottom, @stays.delete(bottom))
            prune
          end

          def prune
            while (bottom = @stack.oldest) && !@stays.include?(bottom)
              @stack.delete(bottom)
              @ghosts.delete(bottom) if @ghosts.include?(bottom)
            end
          end

          def make_room(size)
            while @stays.bytes + @queue.bytes + size > @capacity
              leave_stay if @queue.count.zero?
              victim = @queue.oldest
              bytes = @queue.delete(victim)
              next unless @stack.include?(victim)

              @ghosts.push(victim, bytes)
              forget while @ghosts.bytes > REMEMBERED * @capacity
            end
          end

          def forget
            object = @ghosts.oldest
            @ghosts.delete(object)
            @stack.delete(object)
          end
        end
      end
    end
  end
end
