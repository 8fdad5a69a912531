# frozen_string_literal: true

module Larder
  module Lab
    module Hitratio
      # Objects by how popular they are: the n-th is asked for 1 / n ** skew times as often as the first (Zipf's law),
      # drawn by inversion of the cumulated shares.
      class Ranks
        # @param skew [Float] 0: all alike
        def initialize(count, skew)
          sum = 0.0
          @cumulated = Array.new(count) { |i| sum += 1.0 / ((i + 1)**skew) }
          @sum = sum
        end

        # @return [Integer] from 0
        def draw(random)
          wanted = random.rand * @sum
          @cumulated.bsearch_index { |share| share >= wanted } || (@cumulated.size - 1)
        end

        # @return [Array<Float>] of the requests, by rank; together 1
        def shares
          [0.0, *@cumulated].each_cons(2).map { |from, to| (to - from) / @sum }
        end
      end
    end
  end
end
