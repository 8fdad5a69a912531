# frozen_string_literal: true

require_relative "../chain"

module Larder
  module Lab
    module Hitratio
      module Policies
        # ARC as published (Megiddo and Modha, "ARC: A self-tuning, low overhead replacement cache", FAST 2003): objects
        # that were requested once (t1) and more often (t2), with ghosts of each that say which of the two should be
        # larger. Bytes take the place of the paper's pages.
        class Arc < Policy
          Policies.register("arc", self)

          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            @t1, @t2, @once, @often = Array.new(4) { Chain.new(@objects) }
            @target = 0.0 # bytes that t1 should have
          end

          private

          def hit?(object)
            chain = [@t1, @t2].find { |each| each.include?(object) } or return false
            @t2.push(object, chain.delete(object))
            true
          end

          def store(object, size)
            if @once.include?(object)
              adapt(size, @often, @once)
              come_back(object, size, @once)
            elsif @often.include?(object)
              adapt(-size, @once, @often)
              come_back(object, size, @often)
            else
              come_in(object, size)
            end
          end

          # A ghost moves the target further, the rarer its kind is among the ghosts.
          def adapt(bytes, others, own)
            @target = (@target + (bytes * [1.0, others.bytes.fdiv(own.bytes)].max)).clamp(0.0, @capacity)
          end

          def come_back(object, size, ghosts)
            room(size, often: ghosts.equal?(@often))
            ghosts.delete(object)
            @t2.push(object, size)
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
      end
    end
  end
end
