# frozen_string_literal: true

require_relative "lettering"
require_relative "markup"

module Larder
  module Lab
    module Reports
      class Html
        # A drawing in SVG. Colours and typefaces are up to the style sheet, by classes, so that they follow the
        # reader's scheme.
        class Canvas
          # Size of all letters, in the unit of the drawing.
          TYPE = 13
          # Distance between lines of text.
          LEADING = 16

          # @return [Integer]
          attr_reader :width
          # @return [Numeric] set by whoever knows how much was drawn
          attr_accessor :height

          # @param width [Integer]
          def initialize(width)
            @width = width
            @height = 0
            @parts = []
          end

          # @return [Boolean] whether it is for a telephone
          def narrow?
            width < 500
          end

          # @return [void]
          def line(from_x, from_y, to_x, to_y, **attributes)
            @parts << Markup.tag(:line, x1: from_x, y1: from_y, x2: to_x, y2: to_y, **attributes)
          end

          # @param data [String]
          # @return [void]
          def path(data, **attributes)
            @parts << Markup.tag(:path, d: data, **attributes)
          end

          # @return [void]
          def dot(at_x, at_y, radius, **attributes)
            @parts << Markup.tag(:circle, cx: at_x, cy: at_y, r: radius, **attributes)
          end

          # @return [void]
          def box(left, top, width, height, **attributes)
            @parts << Markup.tag(:rect, x: left, y: top, width: width, height: height, **attributes)
          end

          # @param text [String, Array] with {Markup.tag}s in it, if need be
          # @param anchor [String, nil] "middle", "end"; nil: it starts there
          # @return [void]
          def text(at_x, at_y, text, anchor: nil, **attributes)
            @parts << Markup.tag(:text, text, x: at_x, y: at_y, text_anchor: anchor, **attributes)
          end

          # @param lines [Array<String>] the first of them at the place given
          # @return [void]
          def lines(at_x, at_y, lines, **attributes)
            lines.each_with_index { |line, index| text(at_x, at_y + (index * LEADING), line, **attributes) }
          end

          # @param id [String] of this drawing in its page
          # @param title [String]
          # @param description [String] what a reader who does not see it is told
          # @return [Markup::Raw]
          def svg(id:, title:, description:, **attributes)
            Markup.tag(:svg, Markup.tag(:title, title, id: "#{id}-t"), Markup.tag(:desc, description, id: "#{id}-d"),
                       @parts, xmlns: "http://www.w3.org/2000/svg", viewBox: "0 0 #{width} #{height.ceil}",
                               role: "img", aria_labelledby: "#{id}-t", aria_describedby: "#{id}-d", **attributes)
          end
        end
      end
    end
  end
end
