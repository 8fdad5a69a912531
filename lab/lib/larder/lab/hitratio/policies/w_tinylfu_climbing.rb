# frozen_string_literal: true

require_relative "w_tinylfu"

module Larder
  module Lab
    module Hitratio
      module Policies
        # W-TinyLFU whose window grows and shrinks by hill climbing (Einziger, Eytan, Friedman, Manes, "Adaptive
        # software cache management", Middleware 2018), with the numbers of its implementation in Caffeine: it goes on
        # in the direction in which the hit ratio rose, by smaller and smaller steps, and begins anew when the ratio
        # has changed by five points.
        class WTinyLfuClimbing < WTinyLfu
          Policies.register("wtinylfu-climbing", self)

          STEP = 0.0625
          DECAY = 0.98
          RESTART = 0.05
          # Requests between two steps, by the objects that the cache holds.
          SAMPLE = 10

          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            @sample = SAMPLE * [@objects, 1].max
            @step = STEP * capacity
            @requests = @hits = 0
            @ratio = 0.0
          end

          # See {Policy#request}; what follows is not looked at.
          # @return [Boolean] was it a hit?
          def request(object, size, following)
            hit = super
            @requests += 1
            @hits += 1 if hit
            climb if @requests == @sample
            hit
          end

          private

          def climb
            ratio = @hits.fdiv(@requests)
            change = ratio - @ratio
            by = change.negative? ? -@step : @step
            @step = change.abs >= RESTART ? STEP * @capacity * (by <=> 0) : DECAY * by
            @ratio = ratio
            @requests = @hits = 0
            widen((@window_capacity + by).round.clamp((@capacity * WINDOW).to_i, (@capacity * PROTECTED).to_i))
          end

          def widen(bytes)
            divide(bytes)
            move(@window, @probation) while @window.bytes > @window_capacity && @window.count > 1
            move(@probation.count.zero? ? @protected : @probation, @window) while @probation.bytes + @protected.bytes >
                                                                                  @main_capacity
          end
        end
      end
    end
  end
end
