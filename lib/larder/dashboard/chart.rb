# frozen_string_literal: true

# Draws the hit ratio over time as SVG.

require_relative "parts"

module Larder
  class Dashboard
    # A line for the part of reads that hit, on bars for the number of reads, with a table of the same figures.
    # @api private
    class Chart
      include Parts

      # `name`: as "minute"; `length` of a step and `steps`; `format` of times. Hours are those of UTC: in India they
      # begin at half past.
      Unit = Struct.new(:name, :length, :steps, :format)
      MINUTE = Unit.new("minute", 60, 60, "%H:%M")
      HOUR = Unit.new("hour", 3600, 24, "%H:%M")
      # The units of the drawing, which is stretched to its place.
      WIDTH = 600
      HEIGHT = 120
      # The least of the scale, the greatest that is not above any point.
      LEAST = [0.9, 0.8, 0.5, 0.0].freeze
      Point = Struct.new(:time, :bucket) do
        # @return [Usage::Counts, nil]
        def counts
          bucket&.whole
        end

        # @return [Float, nil]
        def ratio
          counts&.hit_ratio
        end
      end
      private_constant :Unit, :WIDTH, :HEIGHT, :LEAST, :Point

      # @param id [String] of the elements
      # @param title [String]
      # @param buckets [Array<Usage::Bucket>]
      # @param unit [Unit]
      # @param now [Time]
      def initialize(id, title, buckets, unit, now)
        @id = id
        @title = title
        @unit = unit
        found = buckets.to_h { |bucket| [bucket.began.to_i, bucket] }
        last = now.to_i - (now.to_i % unit.length)
        @points = Array.new(unit.steps) do |step|
          began = last - ((unit.steps - 1 - step) * unit.length)
          Point.new(Time.at(began), found[began])
        end
        @most = @points.map { |point| point.counts&.reads || 0 }.max
        least = @points.filter_map(&:ratio).min || 0
        @least = LEAST.find { |bound| least >= bound }
      end

      # @param html [Html]
      # @return [void]
      def write(html)
        html.figure(class: "chart card") do
          html.figcaption { html.h2(@title) }
          @most.zero? ? nothing(html) : drawn(html)
        end
      end

      private

      def nothing(html)
        html.p("Nothing was read in that time.", class: "empty")
      end

      def drawn(html)
        html.p(class: "legend") do
          html.span("reads that hit", class: "line-key")
          html.span("reads, at most #{Brief.count(@most)} a #{@unit.name}", class: "bar-key")
        end
        html.div(class: "plot") do
          html.ol(class: "scale", aria: { hidden: "true" }) do
            [1.0, (1 + @least) / 2, @least].each { |share| html.li("#{(share * 100).round} %") }
          end
          svg(html)
          html.ol(class: "times", aria: { hidden: "true" }) do
            [0, @unit.steps / 2, @unit.steps - 1].each { |at| html.li(time(@points[at])) }
          end
        end
        figures(html)
      end

      def svg(html)
        html.svg(viewBox: "0 0 #{WIDTH} #{HEIGHT}", preserveAspectRatio: "none", role: "img",
                 aria: { labelledby: "#{@id}-title", describedby: "#{@id}-text" }) do
          html.title(@title, id: "#{@id}-title")
          html.desc(described, id: "#{@id}-text")
          [0, 0.5, 1].each { |part| gridline(html, part * HEIGHT) }
          @points.each_with_index { |point, at| reads(html, point, at) if point.counts }
          runs.each { |run| line(html, run) }
          @points.each_with_index { |point, at| hover(html, point, at) if point.counts }
        end
      end

      def described
        ratios = @points.filter_map(&:ratio)
        last = ratios.last
        "Between #{Words.percent(ratios.min)} and #{Words.percent(ratios.max)} of reads hit, " \
          "#{Words.percent(last)} in the last #{@unit.name} with reads. The table below has all figures."
      end

      def gridline(html, y)
        html.line(x1: 0, x2: WIDTH, y1: y, y2: y, class: "grid")
      end

      def step
        WIDTH.fdiv(@unit.steps)
      end

      def reads(html, point, at)
        height = HEIGHT * point.counts.reads.fdiv(@most)
        html.rect(x: (at * step).round(1), y: (HEIGHT - height).round(1), width: (step * 0.9).round(1),
                  height: height.round(1), class: "reads")
      end

      # The browser shows the title of what is under the pointer.
      def hover(html, point, at)
        counts = point.counts
        html.rect(x: (at * step).round(1), y: 0, width: step.round(1), height: HEIGHT, class: "hover") do
          hits = counts.hit_ratio ? "#{Words.percent(counts.hit_ratio)} of " : ""
          html.title("#{time(point)}: #{hits}#{Words.counted(counts.reads, "read")}")
        end
      end

      # Runs of neighbours that have a ratio: the line is interrupted where nothing was read.
      def runs
        indexes = @points.each_index.select { |at| @points[at].ratio }
        indexes.slice_when { |one, next_one| next_one != one + 1 }
      end

      # A run of one has the length of its step.
      def line(html, run)
        places = run.map { |at| [(at + 0.5) * step, y_of(@points[at].ratio)] }
        places = [[run[0] * step, places[0][1]], [(run[0] + 1) * step, places[0][1]]] if run.one?
        html.polyline(points: places.map { |place| place.map { |number| number.round(1) }.join(",") }.join(" "),
                      class: "ratio", fill: "none", "vector-effect": "non-scaling-stroke")
      end

      def y_of(ratio)
        HEIGHT * (1 - ((ratio - @least) / (1 - @least)))
      end

      def time(point)
        point.time.strftime(@unit.format)
      end

      def figures(html)
        html.details do
          html.summary("The figures as a table")
          table(html, "#{@title}, by #{@unit.name}", columns, @points.select(&:counts).reverse)
        end
      end

      def columns
        [column(@unit.name.capitalize, sort: ->(point) { point.time.to_i }) do |_, point|
           point.time.strftime("%-d %b #{@unit.format}")
         end,
         column("Reads", :number) { |_, point| Words.count(point.counts.reads) },
         column("Hits", :number) { |_, point| point.ratio ? Words.percent(point.ratio) : "-" },
         column("Stored", :number) { |_, point| Words.count(point.counts.stores) },
         column("Evicted", :number) { |_, point| Words.count(point.counts.evictions) },
         column("Most misses") { |_, point| most_misses(point.bucket) }]
      end

      def most_misses(bucket)
        name, counts = bucket.keyspaces.max_by { |_, one| one.misses }
        return "-" if counts.nil? || counts.misses.zero?

        "#{KeyText.shown(name)} (#{Words.percent([counts.misses.fdiv([bucket.whole.misses, 1].max), 1].min)})"
      end
    end
  end
end
