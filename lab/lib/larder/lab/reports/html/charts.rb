# frozen_string_literal: true

module Larder
  module Lab
    module Reports
      class Html
        # One axis of a chart: converts values to places, and chooses which values are named on it.
        class Scale
          # A value that is named, and its place.
          Tick = Struct.new(:place, :label)
          # Steps of a linear axis, at most.
          STEPS = 5
          # Characters under a chart on a telephone, and names above each other.
          ROOM = 36
          LEVELS = 8
          # A logarithmic axis over less than this factor would have one name at best.
          SHORT = 3.0
          MANTISSAS = [1, 2, 5, 10].freeze
          NINES = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999].freeze

          attr_reader :ticks, :title

          # @param values [Array<Numeric, nil>] that are shown
          def initialize(axis, values, vertical: false)
            @values = values.compact.map(&:to_f).select(&:finite?)
            @values = [0.0, 1.0] if @values.empty?
            @kind = kind(axis.scale)
            @format = @kind == "percentile" ? "percentile" : axis.format
            @title = [axis.title, ("logarithmic" if @kind == "log")].compact.reject(&:empty?).join(", ")
            named = { "log" => :decades, "percentile" => :nines }.fetch(@kind, :steps)
            @ticks = send(named).map { |value| tick(value) }
            @ticks = @ticks.each_slice(2).map(&:first) until @ticks.size < 2 || apart?(vertical)
          end

          # @return [Float] percent of the axis from its lower end; values beyond an end are there
          def place(value)
            span = project(@high) - project(@low)
            (100 * (project(value.to_f) - project(@low)) / span).clamp(0.0, 100.0).round(1)
          end

          private

          def kind(scale)
            low, high = @values.select(&:positive?).minmax
            scale == "log" && (low.nil? || high / low < SHORT) ? "linear" : scale
          end

          def project(value)
            case @kind
            when "log" then Math.log10([value, @low].max)
            when "percentile" then -Math.log10(1.0 - value.clamp(0.0, @high))
            else value
            end
          end

          # Steps of 1, 2 or 5 times a power of ten, which begin at 0 if that is not far. Sets the ends of the axis, as
          # the next two do.
          def steps
            low, high = @values.minmax
            low = 0.0 if low.positive? && low <= high * 0.6
            high = low + (low.zero? ? 1.0 : low.abs) if high <= low
            least = (high - low) / STEPS
            step = above(@format == "integer" ? [least, 1.0].max : least)
            named = (((low / step) + 1e-9).floor..((high / step) - 1e-9).ceil).map { |times| times * step }
            @low, @high = named.minmax
            named.map { |value| value.round([2 - Math.log10(step).floor, 0].max) }
          end

          # Powers of ten; of few, also 2 and 5 times these.
          def decades
            low, high = @values.select(&:positive?).minmax
            @low, @high = below(low), above(high)
            mantissas = @high / @low > 100 ? [1] : MANTISSAS.first(3)
            (Math.log10(@low).floor..Math.log10(@high).ceil)
              .flat_map { |power| mantissas.map { |mantissa| mantissa * (10.0**power) } }
              .select { |value| value.between?(@low * 0.999_999, @high * 1.000_001) }
          end

          def nines
            @low, @high = @values.select { |value| value < 1.0 }.minmax
            @low, @high = 0.0, [*@high, 0.9].max if @low == @high
            NINES.select { |value| value.between?(@low, @high) }
          end

          def above(value) = around(value).find { |each| each >= value * 0.999_999 }

          def below(value) = around(value).reverse.find { |each| each <= value * 1.000_001 }

          def around(value) = MANTISSAS.map { |mantissa| mantissa * (10.0**Math.log10(value).floor) }

          # Zeros at the end say nothing.
          def tick(value)
            label = Figures.text(value, @format).sub(/(\.\d*?)0+(?=\D|\z)/, "\\1").sub(/\.(?=\D|\z)/, "")
            Tick.new(place(value), label)
          end

          def apart?(vertical)
            labels = @ticks.map(&:label)
            labels.uniq == labels && (vertical ? labels.size <= LEVELS : labels.sum { |label| label.size + 2 } <= ROOM)
          end
        end

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

        # Drawings of the cells of a column, next to their figures: the value is a large dot, the interval a line, and
        # each sample a small dot below it. Places are in percent, so that a drawing has the width of its column.
        class Plot
          include Markup

          # @param cells [Array<Object>] of the column
          def initialize(column, cells)
            drawn = cells.grep(Hash)
            axis = Document::Axis.new(scale: column.plot, format: column.format)
            @scale = Scale.new(axis, drawn.flat_map { |cell| [*cell.values_at("value", "low", "high"), *cell["dots"]] })
          end

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

          def line(from, to, y, **attributes) = tag(:line, x1: "#{from}%", x2: "#{to}%", y1: y, y2: y, **attributes)

          def cap(at) = tag(:line, x1: "#{at}%", x2: "#{at}%", y1: 7, y2: 15, class: "interval")
        end
      end
    end
  end
end
