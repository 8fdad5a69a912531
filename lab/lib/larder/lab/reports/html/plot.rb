# frozen_string_literal: true

require_relative "markup"
require_relative "scale"

module Larder
  module Lab
    module Reports
      class Html
        # Drawings of the cells of a column, next to their figures: the value is a large dot, the interval a line, and
        # each sample a small dot below it. Places are in percent, so that a drawing has the width of its column.
        class Plot
          include Markup

          # @param column [Document::Column]
          # @param cells [Array<Object>] of the column
          def initialize(column, cells)
            drawn = cells.grep(Hash)
            axis = Document::Axis.new(scale: column.plot, format: column.format)
            @scale = Scale.new(axis, drawn.flat_map { |cell| [*cell.values_at("value", "low", "high"), *cell["dots"]] })
          end

          # @param cell [Object]
          # @return [Markup::Raw]
          def to_html(cell)
            drawn = drawing(cell) if cell.is_a?(Hash)
            tag(:td, drawn, class: "plot", aria_hidden: "true")
          end

          # @return [Markup::Raw] for the foot of the column
          def axis
            names = @scale.ticks.map do |tick|
              tag(:text, tick.label, x: "#{tick.place}%", y: 15, text_anchor: "middle")
            end
            tag(:td, tag(:svg, line(0, 100, 0.5, class: "grid"), names, width: "100%", height: 20), @scale.title,
                class: "plot", aria_hidden: "true")
          end

          private

          def drawing(cell)
            value, low, high = cell.values_at("value", "low", "high").map { |each| each && @scale.place(each) }
            tag(:svg, grid, line(0, value, 11, class: "guide"),
                *([line(low, high, 11, class: "interval"), cap(low), cap(high)] if low && high), samples(cell),
                tag(:circle, cx: "#{value}%", cy: 11, r: 4.5), width: "100%", height: 28)
          end

          def samples(cell)
            cell["dots"].to_a.compact.map { |value| @scale.place(value) }.uniq
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

          def cap(at) = tag(:line, x1: "#{at}%", x2: "#{at}%", y1: 7, y2: 15, class: "interval")
        end
      end
    end
  end
end
