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
            @queue.shift while @queue.bytes + size > @capacity
            @queue.push(object, size)
          end
        end

        # Evicts the object that was not requested for the longest time.
        class Lru < Fifo
          private

          def hit?(object) = super && @queue.renew(object)
        end

        # S3-FIFO as published (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023): a small
        # queue of a tenth, whose objects go to the main one if they were read twice; ghosts of as many bytes as the
        # main queue has.
        class S3Fifo < Policy
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
            known = @ghosts.delete(object)
            return if !known && size >= @small_capacity

            evict while @small.bytes + @main.bytes + size > @capacity
            @reads[object] = 0
            (known ? @main : @small).push(object, size)
          end

          def evict
            return evict_main if @main.bytes > @main_capacity || @small.empty?
            return @main.push(*@small.shift) if @reads[@small.oldest] >= PROMOTED_AT

            remember(*@small.shift)
          end

          def remember(object, size)
            return if size > @main_capacity

            @ghosts.shift while @ghosts.bytes + size > @main_capacity
            @ghosts.push(object, size)
          end

          def evict_main
            object = @main.oldest
            return @main.delete(object) if @reads[object].zero?

            @reads[object] -= 1
            @main.renew(object)
          end
        end

        # ARC as published (Megiddo and Modha, "ARC: A self-tuning, low overhead replacement cache", FAST 2003): objects
        # that were requested once (t1) and more often (t2), with ghosts of each that say which of the two should be
        # larger. Bytes take the place of the paper's pages.
        class Arc < Policy
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
            @once.shift while !@once.empty? && @t1.bytes + @once.bytes + size > @capacity
            @t1.shift while !@t1.empty? && @t1.bytes + size > @capacity
            over = [@t1, @t2, @once, @often].sum(&:bytes) + size - (2 * @capacity)
            over -= @often.shift.last while over.positive? && !@often.empty?
            room(size, often: false)
            @t1.push(object, size)
          end

          # The paper's REPLACE, until there is room.
          def room(size, often:)
            while @t1.bytes + @t2.bytes + size > @capacity
              full = @t1.bytes > @target || (often && @t1.bytes >= @target)
              !@t1.empty? && (full || @t2.empty?) ? @once.push(*@t1.shift) : @often.push(*@t2.shift)
            end
          end
        end

        # LIRS as published (Jiang, Zhang, "LIRS: an efficient low inter-reference recency set replacement policy",
        # SIGMETRICS 2002): objects that came back soon, of 99 % of the bytes, stay; the others pass through a queue
        # that has room for two at least. A stack of requests, whose bottom is pruned, says which objects came back
        # soon, also of evicted ones. It remembers evicted objects of twice as many bytes as the cache has.
        class Lirs < Policy
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
            recent = @ghosts.delete(object)
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
            bottom, = @stack.shift
            @queue.push(bottom, @stays.delete(bottom))
            prune
          end

          def prune
            while (bottom = @stack.oldest) && !@stays.include?(bottom)
              @stack.shift
              @ghosts.delete(bottom)
            end
          end

          def make_room(size)
            while @stays.bytes + @queue.bytes + size > @capacity
              leave_stay if @queue.empty?
              victim, bytes = @queue.shift
              next unless @stack.include?(victim)

              @ghosts.push(victim, bytes)
              @stack.delete(@ghosts.shift.first) while @ghosts.bytes > REMEMBERED * @capacity
            end
          end
        end

        # Evicts, or does not store, the object whose next request is farthest away: the fewest misses that are possible
        # with objects of one size (Belady, 1966), and the usual yardstick with others.
        class Belady < Policy
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

        { "lru" => Lru, "fifo" => Fifo, "s3fifo" => S3Fifo, "arc" => Arc, "lirs" => Lirs, "belady" => Belady }
          .each { |name, type| register(name, type) }
      end
    end
  end
end
