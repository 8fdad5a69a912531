# frozen_string_literal: true

require_relative "../segments"

module Larder
  module Lab
    module Hitratio
      module Policies
        # What the engine does, without its overhead: S3-FIFO in segments, whose configuration is the one of four under
        # which a small cache of sampled objects would have missed least (docs/adr/0028-steered-eviction.md).
        class Steered < Policy
          Policies.register("steered", self)

          CONFIGURATIONS = [[0.05, 0.5], [0.01, 0], [0.3, 0.5], [0.5, 0]].map do |numbers|
            Segments::Configuration.new(*numbers)
          end.freeze
          # Segments, if there are as many objects.
          SEGMENTS = 256
          # Objects that a shadow cache holds at most.
          SAMPLE = 256
          # Requests of the sample between two choices, by the objects that a shadow cache holds.
          EVERY = 2
          DECAY = 0.9
          LEAST_GAIN = 0.01
          # An odd multiplier: it spreads numbers of objects over 64 bits.
          FACTOR = 0x9e3779b97f4a7c15
          private_constant :FACTOR

          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            held = [capacity * trace.objects / [trace.footprint, 1].max, 4].max # objects, about
            @cache = Segments.new(capacity, [held, SEGMENTS].min, trace.objects, CONFIGURATIONS.first)
            @sample = [held, SAMPLE].min
            @below = @sample.fdiv(held) * (1 << 64)
            @shadows = CONFIGURATIONS.map { |one| Segments.new(@sample, @sample, trace.objects, one) }
            @scores = CONFIGURATIONS.map { 0 }
            @seen = CONFIGURATIONS.map { 0 }
            @requests = 0
          end

          # See {Policy#request}; what follows is not looked at.
          # @return [Boolean] was it a hit?
          def request(object, size, _following)
            show(object) if ((object + 1) * FACTOR) & ((1 << 64) - 1) < @below
            return false if size > @capacity / 2

            @cache.request(object, size)
          end

          private

          def show(object)
            @shadows.each { |shadow| shadow.request(object, 1) }
            @requests += 1
            choose if (@requests % (EVERY * @sample)).zero?
          end

          def choose
            @shadows.each_with_index do |shadow, at|
              @scores[at] = (@scores[at] * DECAY) + shadow.misses - @seen[at]
              @seen[at] = shadow.misses
            end
            best = CONFIGURATIONS[@scores.index(@scores.min)]
            now = @scores[CONFIGURATIONS.index(@cache.configuration)]
            @cache.configuration = best if @scores.min < now * (1 - LEAST_GAIN)
          end
        end
      end
    end
  end
end
