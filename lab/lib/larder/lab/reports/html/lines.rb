# frozen_string_literal: true

require_relative "markup"
require_relative "scale"

module Larder
  module Lab
    module Reports
      class Html
        # {Document::Curves} as a drawing that has the width of its place, and the names of its lines next to it, in the
        # order of their ends. Lines differ by dashes as well as by colour.
        class Lines
          include Markup

          # The unbroken line is that of the series that stands out.
          DASHES = ["7 3", "2 3", "11 3 2 3", "4 2", "16 4", "7 3 2 3 2 3", "1 2", "5 6", "16 3 4 3", "9 2 9 7", "1 5",
                    "3 3 9 3"].freeze
          # Colours of the style sheet.
          COLOURS = 7
          # A line of at most this many points has a mark at each.
          MARKED = 13
          # Units of the drawing in each direction.
          SIZE = 1000
          private_constant :DASHES, :COLOURS, :MARKED, :SIZE

          def initialize(block)
            labels = block.series.map { |line| line["label"] }
            own = labels.map { |label| Html.ours?(label) }
            points = block.series.map { |line| line["points"].select(&:all?).sort_by(&:first) }
            @series = labels.zip(own, looks(own), points)
            @x = Scale.new(block.x, points.flatten(1).map(&:first))
            @y = Scale.new(block.y, points.flatten(1).map(&:last), vertical: true)
          end

          # @param labels [Hash{Symbol=>String}] for those who do not see it
          def to_html(**labels)
            room = @y.ticks.map { |tick| tick.label.size }.max.to_i
            plane = tag(:svg, horizontals, verticals, lines, width: "100%", height: 290, role: "img", **labels,
                        style: "margin-left: #{room + 1}ch; width: calc(100% - #{room + 3}ch)")
            tag(:div, tag(:p, @y.title), tag(:div, plane, tag(:p, @x.title)), names, class: "lines")
          end

          private

          def looks(own)
            colours, dashes = (1..COLOURS).cycle, DASHES.cycle
            own.map { |each| each ? { class: "own" } : { class: "s#{colours.next}", stroke_dasharray: dashes.next } }
          end

          def horizontals
            @y.ticks.map do |tick|
              at = "#{(100 - tick.place).round(1)}%"
              [tag(:line, x1: 0, x2: "100%", y1: at, y2: at, class: "grid"),
               tag(:text, tick.label, x: -8, y: at, dy: "0.35em", text_anchor: "end")]
            end
          end

          def verticals
            @x.ticks.map do |tick|
              at = "#{tick.place}%"
              [tag(:line, x1: at, x2: at, y1: 0, y2: "100%", class: "grid"),
               tag(:text, tick.label, x: at, y: "100%", dy: "1.4em", text_anchor: "middle")]
            end
          end

          # In a drawing of its own, which is stretched to the plane; strokes are not.
          def lines
            tag(:svg, @series.map { |_, _, look, points| curve(points, look) },
                viewBox: "0 0 #{SIZE} #{SIZE}", width: "100%", height: "100%", preserveAspectRatio: "none")
          end

          def curve(points, look)
            return if points.empty?

            placed = points.map do |x, y|
              "#{(@x.place(x) * SIZE / 100).round} #{((100 - @y.place(y)) * SIZE / 100).round}"
            end
            marks = placed.map { |place| "M#{place}h0" }.join if placed.size <= MARKED
            [tag(:path, d: "M#{placed.join("L")}", **look),
             *(tag(:path, d: marks, class: "#{look[:class]} mark") if marks)]
          end

          def names
            ended = @series.sort_by { |*, points| -points.last.to_a.fetch(1, 0) }
            tag(:ul, ended.map do |label, own, look|
              sample = tag(:line, x1: 0, x2: 30, y1: 5, y2: 5, **look)
              tag(:li, tag(:svg, sample, width: 30, height: 10, aria_hidden: "true"), label, class: ("own" if own))
            end)
          end
        end
      end
    end
  end
end
