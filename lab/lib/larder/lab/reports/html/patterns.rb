# frozen_string_literal: true

require_relative "markup"

module Larder
  module Lab
    module Reports
      class Html
        # What parts of bars are filled with. A page holds the patterns once, for all its charts.
        module Patterns
          # What is drawn over the colour, on tiles of 8 by 8; the first is plain.
          DRAWN = [nil, "M-2 2L2 -2M0 8L8 0M6 10L10 6", "M2 2h.01M6 6h.01", "M0 2H8M0 6H8",
                   "M-2 6L2 10M0 0L8 8M6 -2L10 2", "M2 0V8M6 0V8", "M0 4H8M4 0V8",
                   "M2 2h.01M6 2h.01M2 6h.01M6 6h.01M4 4h.01M0 0h.01"].freeze

          module_function

          # @param part [Integer] which one, from 0
          # @return [String] class of the style sheet
          def fill(part)
            "f#{part % DRAWN.size}"
          end

          # @return [Markup::Raw] a drawing of no size that holds them
          def svg
            tiles = DRAWN.each_index.map do |index|
              drawn = DRAWN[index] && Markup.tag(:path, d: DRAWN[index], class: "hatch")
              Markup.tag(:pattern, Markup.tag(:rect, width: 8, height: 8, class: "c#{index}"), drawn,
                         id: "fill-#{index}", width: 8, height: 8, patternUnits: "userSpaceOnUse")
            end
            Markup.tag(:svg, Markup.tag(:defs, tiles), xmlns: "http://www.w3.org/2000/svg", width: 0, height: 0,
                                                       class: "patterns", aria_hidden: "true")
          end
        end
      end
    end
  end
end
