# frozen_string_literal: true

require_relative "markup"
require_relative "scale"

module Larder
  module Lab
    module Reports
      class Html
        # {Document::Intervals} as a table: in each row a name, a drawing and the figures. In the drawing the value is a
        # large dot, the interval a line, and each sample a small dot below it. Places are in percent, so that a drawing
        # has the width of its column.
        class Dots
          include Markup

          # @param block [Document::Intervals]
          def initialize(block)
            @block = block
            @own = Html.own(block.rows)
            values = block.rows.flat_map { |row| [*row.values_at("value", "low", "high"), *row["dots"]] }
            @scale = Scale.new(block.x, values)
          end

          # @return [Markup::Raw]
          def to_html
            rows = @block.rows.zip(@own).map { |row, own| row(row, own) }
            foot = tag(:tfoot, tag(:tr, tag(:td, nil), axis, tag(:td, nil))) if @block.rows.any? { |row| row["value"] }
            tag(:table, tag(:tbody, rows), *foot, class: "dots")
          end

          private

          def row(row, own)
            name = tag(:th, row["label"], scope: "row")
            unless row["value"]
              return tag(:tr, name, tag(:td, words(row["note"] || "nothing was measured"), colspan: 2, class: "rest"))
            end

            tag(:tr, name, tag(:td, plot(row), class: "plot", aria_hidden: "true"), tag(:td, figure(row)),
                class: ("own" if own))
          end

          def figure(row)
            return words(row["figure"]) if row["figure"]

            low, high = row.values_at("low", "high").map { |value| value && Cells.text(value, @block.x.format) }
            [words(Cells.text(row["value"], @block.x.format)),
             (tag(:span, " (#{Cells.range(low, high)})", class: "range") if low && high)]
          end

          def plot(row)
            low, high = row.values_at("low", "high").map { |value| value && @scale.place(value) }
            at = @scale.place(row["value"])
            tag(:svg, grid, line(0, at, 11, class: "guide"),
                *([line(low, high, 11, class: "interval"), cap(low), cap(high)] if low && high), samples(row),
                tag(:circle, cx: "#{at}%", cy: 11, r: 4.5), width: "100%", height: 28)
          end

          def samples(row)
            row["dots"].to_a.compact.map { |value| @scale.place(value) }.uniq
                       .map { |at| tag(:circle, cx: "#{at}%", cy: 21, r: 1.8, class: "sample") }
          end

          # Higher than the drawing: the cell is, where a name has several lines.
          def grid
            @grid ||= @scale.ticks.map do |tick|
              tag(:line, x1: "#{tick.place}%", x2: "#{tick.place}%", y1: -40, y2: 70, class: "grid")
            end
          end

          def line(from, to, y, **attributes)
            tag(:line, x1: "#{from}%", x2: "#{to}%", y1: y, y2: y, **attributes)
          end

          def cap(at)
            tag(:line, x1: "#{at}%", x2: "#{at}%", y1: 7, y2: 15, class: "interval")
          end

          def axis
            names = @scale.ticks.map do |tick|
              tag(:text, tick.label, x: "#{tick.place}%", y: 15, text_anchor: "middle")
            end
            tag(:td, tag(:svg, line(0, 100, 0.5, class: "grid"), names, width: "100%", height: 20), @scale.title,
                class: "plot", aria_hidden: "true")
          end
        end
      end
    end
  end
end
