# frozen_string_literal: true

# Builds the section that tells up to which bandwidth which compressor is faster, from measured or published figures.

require_relative "../../document"
require_relative "../../reports/figures"
require_relative "../../break_even"

module Larder
  module Lab
    module Advice
      module Sections
        # Break-even points of compressors on a wire.
        class Wire
          Figures = Reports::Figures
          # Points of a curve.
          POINTS = 41
          # Bandwidths that are drawn, at least: 1 Mbit/s to 100 Gbit/s.
          RANGE = [1e6, 1e11].freeze
          # Beyond the outermost break-even points, times as far.
          MARGIN = 10.0

          # @param figures [Hash{String=>Array(Integer, Float)}] bytes, and seconds of work, by compressor
          # @param what [String] whose time it is: "a call", "a write"
          # @param intervals [#call, nil] two neighbours to a {Figure} of the bandwidth where they are equal
          # @param now [Float, nil] bandwidth to be drawn as well
          def initialize(figures, what:, intervals: nil, now: nil)
            @figures = figures
            @what = what
            @intervals = intervals
            @now = now
            @break_even = BreakEven.of_bandwidth(figures)
          end

          # @return [Array<Document::Table, Document::Curves>]
          def blocks
            [table, (turns if @intervals && pieces.size > 1), curves].compact
          end

          # @return [String] "brotli up to 3.1 Mbit/s, zstd from there to 755 Mbit/s, none above"
          def sentence
            pieces.each_with_index.map { |piece, index| words(piece, index) }.join(", ")
          end

          # @return [Array<BreakEven::Piece>] from the slowest wire on
          def pieces
            @pieces ||= @break_even.by_bandwidth
          end

          # @return [Array<String>] compressors that are the best nowhere
          def never
            @figures.keys.select { |name| @break_even.never?(name) }
          end

          private

          def words(piece, index)
            name = name_of(piece.name)
            return name + (index.zero? ? " at every bandwidth" : " above") if piece.to.infinite?

            "#{name} #{index.zero? ? "up" : "from there"} to #{Figures.bits(piece.to)}"
          end

          def name_of(name)
            name == "none" ? "no compression" : name
          end

          def table
            Document::Table.build(
              caption: "By compressor: bytes to send, and time of #{@what} without the wire",
              columns: [{ title: "" }, { title: "bytes", format: "integer" }, { title: "µs", format: "micros" },
                        { title: "pays below", format: "bits", optional: 1 }, { title: "is best" }],
              rows: @figures.keys.sort_by { |name| -@figures[name].first }.map { |name| row(name) },
              notes: ["pays below: up to this bandwidth it is faster than sending without compression."]
            )
          end

          def row(name)
            bytes, seconds = @figures.fetch(name)
            [name, bytes, seconds, pays_below(name), best(name)]
          end

          def pays_below(name)
            return if name == "none"

            crossing = @break_even.crossing(name, "none")
            return 1 / crossing if crossing

            @figures[name].last < @figures["none"].last ? "always" : "never"
          end

          def best(name)
            index = pieces.index { |piece| piece.name == name } or return "never"
            piece = pieces[index]
            from = Figures.bits(piece.from) unless piece.from.zero?
            to = Figures.bits(piece.to) unless piece.to.infinite?
            return "always" unless from || to
            return "below #{to}" unless from

            to ? "#{from} to #{to}" : "above #{from}"
          end

          # Break-even points with their intervals.
          def turns
            rows = pieces.each_cons(2).map do |slower, faster|
              estimate = @intervals.call(slower.name, faster.name).estimate
              [slower.name, faster.name, slower.to, estimate.low, estimate.high]
            end
            bits = ["bandwidth", "from", "to"].map { |title| { title: title, format: "bits" } }
            Document::Table.build(caption: "Where the order turns, with intervals",
                                  columns: [{ title: "below" }, { title: "above" }, *bits], rows: rows)
          end

          def curves
            Document::Curves.build(
              title: "Time of #{@what} over bandwidth", sentence: "The fastest by bandwidth: #{sentence}.",
              x: { title: "bandwidth", scale: "log", format: "bits" },
              y: { title: "time of #{@what}", scale: "log", format: "seconds" },
              series: @break_even.lines.map do |line|
                { label: line.name, points: bandwidths.map { |bits| [bits, line.cost(1 / bits)] } }
              end
            )
          end

          # Evenly on a logarithmic axis, with the break-even points themselves.
          def bandwidths
            @bandwidths ||= begin
              edges = pieces.map(&:to).reject(&:infinite?)
              low = [RANGE.first, *edges.map { |edge| edge / MARGIN }].min
              high = [RANGE.last, *edges.map { |edge| edge * MARGIN }].max
              even = Array.new(POINTS) { |i| low * ((high / low)**i.fdiv(POINTS - 1)) }
              [*even, *edges, @now].compact.uniq.sort
            end
          end
        end
      end
    end
  end
end
