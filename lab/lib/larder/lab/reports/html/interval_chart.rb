# frozen_string_literal: true

require_relative "row_chart"

module Larder
  module Lab
    module Reports
      class Html
        # Dots with intervals: the median large, the interval a line, and below them a small dot for each raw sample.
        class IntervalChart < RowChart
          # Raw samples that are drawn of a row; of more of them, so many that lie evenly among them.
          DOTS = 120
          private_constant :DOTS

          private

          def head
            @block.reference ? 22 : super
          end

          def values
            [@block.reference, *rows.flat_map { |row| [*row.values_at("value", "low", "high"), *row["dots"]] }]
          end

          def figure(row)
            return unless row["value"]

            low, high = row.values_at("low", "high")
            low, high = high, low if @block.x.format == "rate" # which is more where the time is less
            range = low && high && Cells.range(cell(low), cell(high))
            [cell(row["value"]), range]
          end

          def draw
            super
            reference if @block.reference && @scale
          end

          def reference
            at = @scale.at(@block.reference)
            @canvas.line(at, 16, at, @canvas.height - (3 * Canvas::LEADING), class: "reference")
            name = @scale.label(@block.reference)
            half = text_width(name) / 2
            @canvas.text(at.clamp(half, @canvas.width - half), 11, name, anchor: "middle", class: "soft")
          end

          def plot(row, y, index)
            tone = @own[index] ? "own" : "plain"
            @canvas.line(left, y, @scale.at(row["value"]), y, class: "guide")
            interval(row, y, tone)
            dots = samples(row).map { |value| "M#{number(@scale.at(value))} #{number(y + 8)}h0" }.join
            @canvas.path(dots, class: "sample #{tone}") unless dots.empty?
            @canvas.dot(@scale.at(row["value"]), y, @own[index] ? 5 : 4, class: "dot #{tone}")
          end

          def interval(row, y, tone)
            low, high = row.values_at("low", "high").map { |value| value && @scale.at(value) }
            return unless low && high

            @canvas.path("M#{number(low)} #{number(y - 4)}v8m0 -4H#{number(high)}m0 -4v8", class: "interval #{tone}")
          end

          def samples(row)
            all = row["dots"].to_a.compact.sort
            return all if all.size <= DOTS

            (0...DOTS).map { |index| all[index * (all.size - 1) / (DOTS - 1)] }
          end

          def number(value)
            Markup.number(value)
          end
        end
      end
    end
  end
end
