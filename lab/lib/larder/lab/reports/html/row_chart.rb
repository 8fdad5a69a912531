# frozen_string_literal: true

require_relative "chart"

module Larder
  module Lab
    module Reports
      class Html
        # A chart with a row for each thing compared: its name at the left or, where there is no room beside the plot,
        # above it; what its figure is at the right; and between them what the subclass draws.
        class RowChart < Chart
          # Greatest share of the width that names take.
          NAMES = 0.28
          # Height of a row without its name, and where in it the middle of what is drawn is.
          PLOT = 28
          # Between names, plot and figures.
          GUTTER = 14
          private_constant :NAMES, :PLOT, :GUTTER

          private

          def rows
            @block.rows
          end

          # @return [Numeric] where rows begin
          def head
            8
          end

          def draw
            @own = own(rows)
            top = head
            places = rows.map { |row| (top += height(row)) - height(row) }
            @scale = Scale.build(@block.x, values, from: left, to: right, start: zero? ? :zero : :even)
            horizontal_axis(@scale, left, right, head - 2, top + 4) if rows.any? { |row| figure(row) }
            @canvas.height = top + 8 if @canvas.height.zero?
            rows.each_index { |index| row(index, places[index]) }
          end

          def row(index, top)
            row = rows[index]
            tone = @own[index] ? "own" : nil
            @canvas.lines(0, top + (narrow? ? 13 : middle(row) + 5 - (8 * (names(row).size - 1))), names(row),
                          class: ["name", tone].compact.join(" "))
            return note(row, top) unless figure(row)

            figures(row, top, tone)
            plot(row, top + middle(row), index)
          end

          def figures(row, top, tone)
            value, range = figure(row)
            y = narrow? ? top + 13 : top + middle(row) + 5
            words = narrow? && range && roomy? ? [value, Markup.tag(:tspan, " #{range}", class: "soft")] : value
            at = narrow? ? @canvas.width : right + GUTTER + value_room
            @canvas.text(at, y, words, anchor: "end", class: ["value", tone].compact.join(" "))
            @canvas.text(at + 6, y, range, class: "soft") if range && !narrow?
          end

          # Whether all names leave room for more than values.
          def roomy?
            @roomy ||= rows.all? do |row|
              text_width([row["label"], *figure(row)].join(" ")) < @canvas.width - GUTTER || !figure(row)
            end
          end

          def note(row, top)
            @canvas.lines(narrow? ? 0 : left, narrow? ? top + 29 : top + middle(row) + 5 - (8 * (noted(row).size - 1)),
                          noted(row), class: "note")
          end

          def noted(row)
            room = narrow? ? @canvas.width : @canvas.width - left
            Lettering.wrap(row["note"] || "nothing was measured", room, Canvas::TYPE, lines: narrow? ? 4 : 3)
          end

          def names(row)
            room = if narrow?
                     @canvas.width - (figure(row) ? text_width(figure(row).first) + GUTTER : 0)
                   else
                     names_room
                   end
            Lettering.wrap(row["label"].to_s, room, Canvas::TYPE, lines: narrow? ? 2 : 3)
          end

          def height(row)
            lines = figure(row) ? 0 : noted(row).size
            return ((names(row).size + lines) * Canvas::LEADING) + (figure(row) ? PLOT : 10) if narrow?

            [PLOT, ([names(row).size, lines].max * Canvas::LEADING) + 8].max
          end

          # From the top of a row to the middle of what is drawn in it.
          def middle(row)
            narrow? ? (names(row).size * Canvas::LEADING) + 11 : height(row) / 2.0
          end

          def names_room
            @names_room ||= [rows.map { |row| text_width(row["label"].to_s) * 1.06 }.max.to_f,
                             @canvas.width * NAMES].min.ceil
          end

          def value_room
            @value_room ||= rows.filter_map { |row| figure(row) && text_width(figure(row).first) }.max.to_f
          end

          def range_room
            rows.filter_map { |row| figure(row)&.at(1) && (text_width(figure(row)[1]) + 6) }.max.to_f
          end

          def left
            narrow? ? 6 : names_room + GUTTER
          end

          def right
            @right ||= narrow? ? @canvas.width - 6 : @canvas.width - value_room - range_room - GUTTER
          end
        end
      end
    end
  end
end
