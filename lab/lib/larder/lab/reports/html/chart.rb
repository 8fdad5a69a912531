# frozen_string_literal: true

require_relative "canvas"
require_relative "scale"

module Larder
  module Lab
    module Reports
      class Html
        # What charts have in common: a canvas of some width, and axes. A subclass draws.
        class Chart
          # Who takes part, where the block does not say who stands out.
          OURS = /\Alarder\b/i

          # @param label [String]
          # @return [Boolean] whether this is Larder
          def self.ours?(label)
            label.to_s.match?(OURS)
          end

          # @param block [Document::Block]
          # @param width [Integer] of the drawing
          def initialize(block, width)
            @block = block
            @canvas = Canvas.new(width)
          end

          # @return [Canvas] with the chart on it
          def canvas
            @drawn ||= draw || true
            @canvas
          end

          private

          def narrow?
            @canvas.narrow?
          end

          # Which of the rows or series stand out.
          def own(rows)
            said = rows.any? { |row| row.key?("highlight") }
            rows.map { |row| said ? row["highlight"] == true : self.class.ours?(row["label"]) }
          end

          # Lines from top to bottom, with their names below.
          def horizontal_axis(scale, left, right, top, bottom)
            lines = scale.ticks.map do |tick|
              "M#{Markup.number(tick.at)} #{Markup.number(top)}V#{Markup.number(bottom)}"
            end
            @canvas.path(lines.join, class: "grid")
            scale.ticks.each { |tick| tick_name(tick, bottom + Canvas::LEADING) }
            @canvas.line(left, bottom, right, bottom, class: "axis")
            @canvas.text(left, bottom + (2.5 * Canvas::LEADING), axis_title(@block.x), class: "soft")
            @canvas.height = bottom + (3 * Canvas::LEADING)
          end

          # Names at the edges of the drawing do not leave it.
          def tick_name(tick, y)
            half = Lettering.width(tick.label, Canvas::TYPE) / 2
            at = tick.at.clamp(half, [@canvas.width - half, half].max)
            @canvas.text(at, y, tick.label, anchor: "middle", class: "soft")
          end

          def axis_title(axis)
            note = "logarithmic" if axis.scale == "log" && !zero?
            [axis.title, note].compact.reject(&:empty?).join(", ")
          end

          # Whether the chart's axis has to begin at 0.
          def zero?
            false
          end

          def text_width(text)
            Lettering.width(text, Canvas::TYPE)
          end

          def cell(value)
            Cells.text(value, @block.x.format)
          end
        end
      end
    end
  end
end
