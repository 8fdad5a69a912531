# frozen_string_literal: true

require_relative "../chain"

module Larder
  module Lab
    module Hitratio
      module Policies
        # ARC as published (Megiddo and Modha, "ARC: A self-tuning, low overhead replacement cache", FAST 2003): what
        # was asked for once (t1) and more often (t2), with ghosts of each that say which of the two should be larger.
        # Bytes take the place of the paper's pages.
        class Arc < Policy
          Policies.register("arc", self)

          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            @t1 = Chain.new(trace.objects)
            @t2 = Chain.new(trace.objects)
            @ghosts = [Chain.new(trace.objects), Chain.new(trace.objects)]
            @target = 0.0 # bytes that t1 should have
          end

          # See {Policy#request}; what follows is not looked at.
          # @return [Boolean] was it a hit?
          def request(object, size, _following)
            if (chain = [@t1, @t2].find { |each| each.include?(object) })
              @t2.push(object, chain.delete(object))
              return true
            end
            store(object, size) if size <= @capacity
            false
          end

          private

          def store(object, size)
            once, often = @ghosts
            if once.include?(object)
              adapt(size, often, once)
              come_back(object, size, once)
            elsif often.include?(object)
              adapt(-size, once, often)
              come_back(object, size, often)
            else
              come_in(object, size)
            end
          end

          # The rarer its kind is among the ghosts, the more one of them says.
          def adapt(bytes, others, own)
            @target += bytes * [1.0, others.bytes.fdiv(own.bytes)].max
            @target = @target.clamp(0.0, @capacity)
          end

          def come_back(object, size, ghosts)
            room(size, often: ghosts.equal?(@ghosts.last))
            ghosts.delete(object)
            @t2.push(object, size)
          end

          def come_in(object, size)
            once, often = @ghosts
            forget_once(size, once)
            over = @t1.bytes + @t2.bytes + once.bytes + often.bytes + size - (2 * @capacity)
            over -= often.delete(often.oldest) while over.positive? && often.count.positive?
            room(size, often: false)
            @t1.push(object, size)
          end

          # Those of t1 and its ghosts together are never more than the cache.
          def forget_once(size, once)
            once.delete(once.oldest) while once.count.positive? && @t1.bytes + once.bytes + size > @capacity
            @t1.delete(@t1.oldest) while @t1.count.positive? && @t1.bytes + size > @capacity
          end

          # The paper's REPLACE, until there is room.
          def room(size, often:)
            while @t1.bytes + @t2.bytes + size > @capacity
              full = @t1.bytes > @target || (often && @t1.bytes >= @target)
              from, to = @t1.count.positive? && (full || @t2.count.zero?) ? [@t1, @ghosts.first] : [@t2, @ghosts.last]
              object = from.oldest
              to.push(object, from.delete(object))
            end
          end
        end
      end
    end
  end
end
