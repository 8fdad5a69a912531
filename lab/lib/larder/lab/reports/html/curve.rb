# frozen_string_literal: true

require_relative "markup"

module Larder
  module Lab
    module Reports
      class Html
        # One line of a {CurveChart}, with its marks.
        class Curve
          # Marks at every point up to so many; of more points, about so many marks.
          MARKED = 12
          SPARSE = 5
          private_constant :MARKED, :SPARSE

          # A piece of line with a mark, to stand before a name.
          # @param canvas [Canvas]
          # @param look [Marks::Look]
          # @return [void]
          def self.sample(canvas, look, x, y, length)
            canvas.line(x, y, x + length, y, class: "curve #{look.colour}", stroke_dasharray: look.dash)
            mark(canvas, look, [[x + (length / 2), y]])
          end

          # @param places [Array<Array(Numeric, Numeric)>]
          # @return [void]
          def self.mark(canvas, look, places)
            path = places.map { |x, y| "M#{Markup.number(x)} #{Markup.number(y)}#{look.shape}" }.join
            canvas.path(path, class: "mark #{look.colour}")
          end

          # @param points [Array<Array(Numeric, Numeric)>] nil for a gap
          # @param across [Scale]
          # @param upwards [Scale]
          # @param look [Marks::Look]
          # @param number [Integer] of the line: marks of lines that lie on each other are at other places
          def initialize(points, across, upwards, look, number)
            @look = look
            @number = number
            given = points.select { |x, y| x && y }.sort_by(&:first)
            @points = thinned(given.map { |x, y| [across.at(x).round(1), upwards.at(y).round(1)] })
          end

          # @return [Array(Float, Float), nil] where it ends at the right
          def ending
            @points.last
          end

          # @param canvas [Canvas]
          # @return [void]
          def draw(canvas)
            return if @points.empty?

            path = @points.map { |point| point.map { |each| Markup.number(each) }.join(" ") }.join("L")
            canvas.path("M#{path}", class: "curve #{@look.colour}", stroke_dasharray: @look.dash)
            self.class.mark(canvas, @look, marked)
          end

          private

          # Of points less than a unit of the drawing apart, the first, and all where the line turns steeply.
          def thinned(points)
            kept = points.first(1)
            points.each_cons(2) do |_, point|
              kept << point if point[0] - kept.last[0] >= 1.5 || (point[1] - kept.last[1]).abs >= 1.5
            end
            kept[-1] = points.last if points.size > 1 && kept.last != points.last && kept.size > 1
            kept
          end

          def marked
            return @points if @points.size <= MARKED

            first, last = @points.first[0], @points.last[0]
            places = (0...SPARSE).map { |index| first + ((last - first) * (index + (@number % 4 * 0.25)) / SPARSE) }
            [*places.map { |place| @points.find { |x, _| x >= place } }, @points.last].compact.uniq
          end
        end
      end
    end
  end
end
