# frozen_string_literal: true

require_relative "../chain"

module Larder
  module Lab
    module Hitratio
      module Policies
        # LIRS as published (Jiang, Zhang, "LIRS: an efficient low inter-reference recency set replacement policy",
        # SIGMETRICS 2002): objects that came back soon, of 99 % of the bytes, stay; the others pass through a queue,
        # which has room for two at least. A stack of requests, from which the bottom is pruned, says what came back
        # soon, also of objects that have left. Of those it remembers as many bytes as the cache has twice.
        class Lirs < Policy
          Policies.register("lirs", self)

          QUEUE = 0.01
          LEAST = 2
          REMEMBERED = 2

          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            @stack, @stays, @queue, @ghosts = Array.new(4) { Chain.new(trace.objects) }
            mean = trace.footprint.fdiv([trace.objects, 1].max)
            @stays_capacity = capacity - [capacity * QUEUE, LEAST * mean].max.ceil
          end

          # See {Policy#request}; what follows is not looked at.
          # @return [Boolean] was it a hit?
          def request(object, size, _following)
            if @stays.include?(object) || @queue.include?(object)
              hit(object)
              return true
            end
            store(object, size) if size <= @capacity
            false
          end

          private

          def hit(object)
            recent = @stack.include?(object)
            stack(object)
            if @stays.include?(object)
              prune
            elsif recent
              stay(object, @queue.delete(object))
            else
              @queue.renew(object)
            end
          end

          def store(object, size)
            make_room(size)
            recent = @ghosts.include?(object)
            @ghosts.delete(object) if recent
            stack(object)
            if recent || @stays.bytes + size <= @stays_capacity
              stay(object, size)
            else
              @queue.push(object, size)
            end
          end

          # The stack is an order alone: what it holds takes no bytes there.
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
              remember(victim, bytes) if @stack.include?(victim)
            end
          end

          def remember(object, size)
            @ghosts.push(object, size)
            while @ghosts.bytes > REMEMBERED * @capacity
              forgotten = @ghosts.oldest
              @ghosts.delete(forgotten)
              @stack.delete(forgotten)
            end
          end
        end
      end
    end
  end
end
