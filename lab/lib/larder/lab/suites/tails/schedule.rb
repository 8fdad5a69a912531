# frozen_string_literal: true

# Computes the times at which calls of an open loop are due.

module Larder
  module Lab
    module Suites
      module Tails
        # Arrivals at a rate, as of many callers that know nothing of each other: a Poisson process, whose gaps are
        # exponential. Some calls come while others are served, and waiting for those is part of their latency, as it is
        # for requests of an application.
        module Schedule
          SECOND = 1_000_000_000

          module_function

          # @param rate [Float] calls per second
          # @param calls [Integer]
          # @param random [Random]
          # @return [Array<Integer>] nanoseconds from the beginning, ascending
          def make(rate:, calls:, random:)
            gap = SECOND / rate
            at = 0.0
            Array.new(calls) { (at -= Math.log(1.0 - random.rand) * gap).round }
          end
        end
      end
    end
  end
end
