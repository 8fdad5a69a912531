# frozen_string_literal: true

require_relative "../chain"
require_relative "../sketch"

module Larder
  module Lab
    module Hitratio
      module Policies
        # W-TinyLFU as published (Einziger, Friedman, Manes, "TinyLFU: a highly efficient cache admission policy",
        # 2017): what leaves an LRU window of 1 % must have been asked for more often than what it would push out of a
        # segmented LRU, by an ageing sketch of frequencies. Objects of different sizes push out as many as they need.
        class WTinyLfu < Policy
          Policies.register("wtinylfu", self)

          WINDOW = 0.01
          PROTECTED = 0.8

          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            @window = Chain.new(trace.objects)
            @probation = Chain.new(trace.objects)
            @protected = Chain.new(trace.objects)
            @objects = capacity * trace.objects / [trace.footprint, 1].max # that the cache holds, about
            @sketch = Sketch.new(@objects)
            divide((capacity * WINDOW).to_i)
          end

          # See {Policy#request}; what follows is not looked at.
          # @return [Boolean] was it a hit?
          def request(object, size, _following)
            @sketch.add(object)
            return true if hit(object)

            if size <= @main_capacity
              @window.push(object, size)
              shrink_window
            end
            false
          end

          private

          # @param window [Integer] bytes of it
          def divide(window)
            @window_capacity = window
            @main_capacity = @capacity - window
            @protected_capacity = (@main_capacity * PROTECTED).to_i
          end

          # Makes the oldest of one queue the newest of another.
          def move(from, to)
            object = from.oldest
            to.push(object, from.delete(object))
          end

          def hit(object)
            if @window.include?(object)
              @window.renew(object)
            elsif @protected.include?(object)
              @protected.renew(object)
            elsif @probation.include?(object)
              @protected.push(object, @probation.delete(object))
              move(@protected, @probation) while @protected.bytes > @protected_capacity
            else
              return false
            end
            true
          end

          # An object of the window's own size or more still passes through it: then the window is that one object.
          def shrink_window
            while @window.bytes > @window_capacity && @window.count.positive?
              candidate = @window.oldest
              admit(candidate, @window.delete(candidate))
            end
          end

          def admit(candidate, size)
            frequency = @sketch.estimate(candidate)
            while @probation.bytes + @protected.bytes + size > @main_capacity
              queue = @probation.count.zero? ? @protected : @probation
              victim = queue.oldest
              return if frequency <= @sketch.estimate(victim)

              queue.delete(victim)
            end
            @probation.push(candidate, size)
          end
        end
      end
    end
  end
end
