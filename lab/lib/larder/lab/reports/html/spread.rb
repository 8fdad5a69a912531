# frozen_string_literal: true

module Larder
  module Lab
    module Reports
      class Html
        # Moves names apart that would lie on each other.
        module Spread
          module_function

          # Names that touch become one group around the mean of where they wanted to be, until no two groups touch.
          # @param wanted [Array<Numeric>] middles
          # @param heights [Array<Numeric>]
          # @param low [Numeric] no name begins before,
          # @param high [Numeric] and none ends after, if there is room for all
          # @return [Array<Float>] middles in the order of those wanted
          def apart(wanted, heights, low, high)
            groups = []
            wanted.each_index.sort_by { |index| [wanted[index], index] }.each do |index|
              groups << [index]
              groups[-2..] = [groups[-2] + groups[-1]] while touching?(groups, wanted, heights, low, high)
            end
            groups.flat_map { |group| middles(group, wanted, heights, low, high) }.sort.map(&:last)
          end

          # @return [Float] where a group begins
          def start(group, wanted, heights, low, high)
            length = heights.values_at(*group).sum
            middle = wanted.values_at(*group).sum.fdiv(group.size)
            (middle - (length / 2.0)).clamp(low, [high - length, low].max)
          end

          def middles(group, wanted, heights, low, high)
            top = start(group, wanted, heights, low, high)
            group.map { |index| [index, (top += heights[index]) - (heights[index] / 2.0)] }
          end

          def touching?(groups, wanted, heights, low, high)
            return false if groups.size < 2

            one, other = groups.last(2)
            start(one, wanted, heights, low, high) + heights.values_at(*one).sum >
              start(other, wanted, heights, low, high) + 0.001
          end

          private_class_method :start, :middles, :touching?
        end
      end
    end
  end
end
