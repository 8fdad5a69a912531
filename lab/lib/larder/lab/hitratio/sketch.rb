# frozen_string_literal: true

module Larder
  module Lab
    module Hitratio
      # How often numbered objects were asked for of late, about: a count-min sketch of four rows, counters up to 15,
      # halved when ten times as many requests as the cache has objects were counted.
      class Sketch
        MOST = 15
        SAMPLE = 10
        # Odd multipliers, one a row.
        FACTORS = [0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0xd6e8feb86659fd93].freeze

        # @param objects [Integer] that the cache holds, about
        def initialize(objects)
          bits = [Math.log2([objects, 16].max).ceil, 4].max
          @shift = 64 - bits
          @rows = Array.new(FACTORS.size) { Array.new(1 << bits, 0) }
          @sample = SAMPLE * [objects, 16].max
          @added = 0
        end

        # @param object [Integer]
        # @return [void]
        def add(object)
          @rows.each_with_index do |row, number|
            at = cell(object, number)
            row[at] += 1 if row[at] < MOST
          end
          @added += 1
          age if @added >= @sample
        end

        # @param object [Integer]
        # @return [Integer] 0 to 15
        def estimate(object)
          least = MOST
          @rows.each_with_index do |row, number|
            count = row[cell(object, number)]
            least = count if count < least
          end
          least
        end

        private

        def cell(object, number)
          (((object + 1) * FACTORS[number]) & 0xffffffffffffffff) >> @shift
        end

        def age
          @rows.each { |row| row.map! { |count| count >> 1 } }
          @added /= 2
        end
      end
    end
  end
end
