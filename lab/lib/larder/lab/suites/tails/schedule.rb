# frozen_string_literal: true

# Computes the times at which calls of an open loop are due.

module Larder
  module Lab
    module Suites
      module Tails
        # Arrivals at a rate.
        #
        # "poisson": as of many callers that know nothing of each other. Their gaps are random (exponential), so some
        # come while others are served, and waiting for those is part of what they see. It is the default because
        # requests of a Rails application arrive so. "constant": a metronome, as wrk2 has it. It shows stalls alone: a
        # store that is not fully loaded makes no caller wait but by stalling.
        module Schedule
          # By the names users type.
          ARRIVALS = %w[poisson constant].freeze
          SECOND = 1_000_000_000

          module_function

          # @param arrivals [String] of {ARRIVALS}
          # @param rate [Float] calls per second
          # @param calls [Integer]
          # @param random [Random]
          # @return [Array<Integer>] nanoseconds from the beginning, ascending
          def make(arrivals, rate:, calls:, random:)
            gap = SECOND / rate
            return Array.new(calls) { |i| (i * gap).round } if arrivals == "constant"

            at = 0.0
            Array.new(calls) { (at -= Math.log(1.0 - random.rand) * gap).round }
          end
        end
      end
    end
  end
end
