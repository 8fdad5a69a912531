# frozen_string_literal: true

module Larder
  module Lab
    module Hitratio
      module Policies
        # ARC as published (Megiddo and Modha, "ARC: A self-tuning, low overhead replacement cache", FAST 2003): objects
        # that were requested once (t1) and more often (t2), with ghosts of each that say which of the two should be
        # larger. Bytes take the place of the paper's pages.
        class Arc < Policy
          Policies.register("arc", self)

          private

          def prepare
            @t1, @t2, @once, @often = chains(4)
            @target = 0.0 # bytes that t1 should have
          end

          def hit?(object)
            chain = [@t1, @t2].find { |each| each.include?(object) } or return false
            @t2.push(object, chain.delete(object))
            true
          end

          def store(object, size)
            ghosts = [@once, @often].find { |each| each.include?(object) } or return come_in(object, size)
            ghosts.equal?(@once) ? adapt(size, @often, @once) : adapt(-size, @once, @often)
            room(size, often: ghosts.equal?(@often))
            ghosts.delete(object)
            @t2.push(object, size)
          end

          # A ghost moves the target further, the rarer its kind is among the ghosts.
          def adapt(bytes, others, own)
            @target = (@target + (bytes * [1.0, others.bytes.fdiv(own.bytes)].max)).clamp(0.0, @capacity)
          end

          # t1 and its ghosts together are never larger than the cache.
          def come_in(object, size)
            @once.delete(@once.oldest) while @once.count.positive? && @t1.bytes + @once.bytes + size > @capacity
            @t1.delete(@t1.oldest) while @t1.count.positive? && @t1.bytes + size > @capacity
            over = [@t1, @t2, @once, @often].sum(&:bytes) + size - (2 * @capacity)
            over -= @often.delete(@often.oldest) while over.positive? && @often.count.positive?
            room(size, often: false)
            @t1.push(object, size)
          end

          # The paper's REPLACE, until there is room.
          def room(size, often:)
            while @t1.bytes + @t2.bytes + size > @capacity
              full = @t1.bytes > @target || (often && @t1.bytes >= @target)
              @t1.count.positive? && (full || @t2.count.zero?) ? @t1.pass(@once) : @t2.pass(@often)
            end
          end
        end

        # LIRS as published (Jiang, Zhang, "LIRS: an efficient low inter-reference recency set replacement policy",
        # SIGMETRICS 2002): objects that came back soon, of 99 % of the bytes, stay; the others pass through a queue
        # that has room for two at least. A stack of requests, whose bottom is pruned, says which objects came back
        # soon, also of evicted ones. It remembers evicted objects of twice as many bytes as the cache has.
        class Lirs < Policy
          Policies.register("lirs", self)

          QUEUE = 0.01
          LEAST = 2
          REMEMBERED = 2

          private

          def prepare
            @stack, @stays, @queue, @ghosts = chains(4)
            mean = @trace.footprint.fdiv(@trace.objects)
            @stays_capacity = @capacity - [@capacity * QUEUE, LEAST * mean].max.ceil
          end

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
            @ghosts.delete(object) if (recent = @ghosts.include?(object))
            stack(object)
            recent || @stays.bytes + size <= @stays_capacity ? stay(object, size) : @queue.push(object, size)
          end

          # The stack is an order alone: its objects take no bytes there.
          def stack(object) = @stack.include?(object) ? @stack.renew(object) : @stack.push(object, 0)

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
