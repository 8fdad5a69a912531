# frozen_string_literal: true

require_relative "patterns"
require_relative "row_chart"

module Larder
  module Lab
    module Reports
      class Html
        # Bars cut into parts, which differ by pattern as well as by colour, with what each stands for above them. The
        # axis begins at 0 and is linear whatever was asked for: lengths of parts compare in no other way.
        class StackedChart < RowChart
          SWATCH = 16
          BAR = 16
          private_constant :SWATCH, :BAR

          private

          def zero?
            true
          end

          def values
            rows.flat_map { |row| [sum(row), row["high"]] }
          end

          def figure(row)
            row["values"].to_a.compact.any? ? [row["figure"] || cell(sum(row))] : nil
          end

          def sum(row)
            row["values"].to_a.compact.sum
          end

          def head
            legend.empty? ? super : legend.last.last + 20
          end

          def draw
            super
            legend.each_with_index do |(name, x, y), part|
              @canvas.box(x, y - 11, SWATCH, 12, class: fill(part))
              @canvas.text(x + SWATCH + 6, y, name)
            end
          end

          # Names of the parts, from left to right and line by line: [name, x, y].
          def legend
            @legend ||= begin
              x, y = 0, 12
              @block.parts.map do |part|
                name = Lettering.cut(part.to_s, @canvas.width - SWATCH - 6, Canvas::TYPE)
                room = SWATCH + 6 + text_width(name)
                x, y = 0, y + 20 if x.positive? && x + room > @canvas.width
                [name, x, y].tap { x += room + 18 }
              end
            end
          end

          def plot(row, y, _index)
            from = 0
            row["values"].each_with_index do |value, part|
              next unless value&.positive?

              start, stop = @scale.at(from), @scale.at(from += value)
              @canvas.box(start, y - (BAR / 2), [stop - start, 0.7].max, BAR, class: "part #{fill(part)}")
            end
            interval(row, y)
          end

          def fill(part)
            @block.remainder && part == @block.parts.size - 1 ? "remainder" : Patterns.fill(part)
          end

          # On a broader line in the color of the paper, so that it is seen on the bar and beside it.
          def interval(row, y)
            low, high = row.values_at("low", "high").map { |value| value && Markup.number(@scale.at(value)) }
            return unless low && high

            data = "M#{low} #{Markup.number(y - 5)}v10m0 -5H#{high}m0 -5v10"
            %w[casing plain].each { |tone| @canvas.path(data, class: "interval #{tone}") }
          end
        end
      end
    end
  end
end
