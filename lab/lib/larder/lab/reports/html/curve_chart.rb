# frozen_string_literal: true

require_relative "chart"
require_relative "curve"
require_relative "marks"
require_relative "spread"

module Larder
  module Lab
    module Reports
      class Html
        # Lines through points, told apart by dashes and marks as well as by colour. Names stand beside the ends of the
        # lines or, where there is no room for that, below the chart.
        class CurveChart < Chart
          # Heights of the plot.
          TALL = 300
          LOW = 230
          # Length of the piece of line that stands before a name.
          SAMPLE = 28
          # Distance between names.
          STEP = 18
          # Points of a line up to which the axis names each.
          MARKS = 10
          # Share of the width that names beside the lines may take.
          BESIDE = 0.3
          # From where on a line counts as ending at the edge.
          NEAR = 24
          private_constant :TALL, :LOW, :SAMPLE, :STEP, :MARKS, :BESIDE, :NEAR

          private

          def draw
            @looks = Marks.for(own(series))
            @x = Scale.build(@block.x, points.map(&:first), from: left, to: right, start: :values, marks: marks)
            vertical_axis
            horizontal_axis(@x, left, right, top, bottom)
            curves = series.each_with_index.map do |line, index|
              Curve.new(line["points"], @x, vertical_scale, @looks[index], index)
            end
            drawn = curves.each_index.sort_by { |index| @looks[index].own ? 1 : 0 }
            drawn.each { |index| curves[index].draw(@canvas) }
            beside? ? beside(curves) : below
          end

          def series
            @block.series
          end

          def points
            series.flat_map { |line| line["points"] }.select(&:all?)
          end

          # Where there are points at a few places only, these are what is named.
          def marks
            places = points.map(&:first).uniq.sort
            places.size <= MARKS ? places : []
          end

          def top
            28
          end

          def bottom
            @bottom ||= top + [narrow? ? LOW : TALL, beside? ? heights.sum + STEP : 0].max
          end

          def left
            ticks = vertical_scale.ticks.map { |tick| text_width(tick.label) }
            @left ||= (ticks.max.to_f + 14).ceil
          end

          def right
            @right ||= beside? ? @canvas.width - names_room - SAMPLE - 26 : @canvas.width - 8
          end

          def beside?
            !narrow?
          end

          def names_room
            @names_room ||= [series.map { |line| text_width(line["label"].to_s) * 1.06 }.max.to_f,
                             @canvas.width * BESIDE].min
          end

          def names(index)
            Lettering.wrap(series[index]["label"].to_s, names_room, Canvas::TYPE, lines: 2)
          end

          def heights
            series.each_index.map { |index| STEP + (Canvas::LEADING * (names(index).size - 1)) }
          end

          def vertical_scale
            @vertical_scale ||= Scale.build(@block.y, points.map(&:last), from: bottom, to: top + 6, vertical: true)
          end

          # The name of the axis lies above it, where it is read without a turn of the head.
          def vertical_axis
            @canvas.text(0, 13, Lettering.cut(axis_title(@block.y), @canvas.width, Canvas::TYPE), class: "soft")
            lines = vertical_scale.ticks.map { |tick| "M#{number(left)} #{number(tick.at)}H#{number(right)}" }
            @canvas.path(lines.join, class: "grid")
            vertical_scale.ticks.each do |tick|
              @canvas.text(left - 10, tick.at + 4.5, tick.label, anchor: "end", class: "soft")
            end
          end

          # Names from top to bottom as the lines end, moved apart, with a thread to the end of the line.
          def beside(curves)
            ends = curves.map { |curve| curve.ending || [right, bottom] }
            places = Spread.apart(ends.map(&:last), heights, top, bottom)
            series.each_index do |index|
              x, y = ends[index]
              start = right + 14
              thread(x, y, start, places[index])
              name(index, start, places[index], names(index))
            end
          end

          # None to lines that end early: it would be taken for one.
          def thread(x, y, start, place)
            return if x < right - NEAR

            @canvas.path("M#{number(x + 6)} #{number(y)}L#{number(start - 2)} #{number(place)}", class: "thread")
          end

          def below
            y = @canvas.height + 14
            x = 0
            series.each_with_index do |line, index|
              room = SAMPLE + 6 + text_width(line["label"].to_s) + 18
              x, y = 0, y + 20 if x.positive? && x + room > @canvas.width
              name(index, x, y - 4, [Lettering.cut(line["label"].to_s, @canvas.width - x - SAMPLE - 6, Canvas::TYPE)])
              x += room
            end
            @canvas.height = y + 8
          end

          def name(index, x, y, lines)
            look = @looks[index]
            Curve.sample(@canvas, look, x, y, SAMPLE)
            @canvas.lines(x + SAMPLE + 6, y + 4.5 - (Canvas::LEADING * (lines.size - 1) / 2), lines,
                          class: look.own ? "name own" : "name")
          end

          def number(value)
            Markup.number(value)
          end
        end
      end
    end
  end
end
