# frozen_string_literal: true

# Builds the sections about codecs: a write and a read of a megabyte over bandwidths, and the bandwidth below which
# compression is faster.

require_relative "model"
require_relative "wording"

module Larder
  module Lab
    module Network
      # Sections and conclusions about codecs.
      class Codecs
        include Wording

        # What the others are compared with, where it is there.
        BASE = "marshal+none"
        # Words where there is no bandwidth to tell.
        PAYS = { never: "never", always: "always", above: "–", open: "not told" }.freeze
        PARTS = ["store and codec", "round trip", "sending"].freeze

        # @param results [Results]
        # @param model [Model]
        def initialize(results, model)
          @results = results
          @model = model
          @plan = results.plan
          @rows = results.measured(:codecs)
          @payload = @plan.codec_payload
        end

        # @return [Array<Document::Section>]
        def sections
          return [] if @rows.empty?

          [section("Codecs over the bandwidth: #{@payload} in #{CODEC_STORE}", table, curves, stacked)]
        end

        # @return [Array<String>]
        def conclusions
          [*(@rows - [base]).filter_map { |row| pays(row) }, *@plan.bandwidths.filter_map { |limit| fastest(limit) }]
        end

        private

        attr_reader :results

        def base
          @rows.find { |row| row.name == BASE } || @rows.first
        end

        def table
          columns = [{ title: "" }, { title: "bytes", format: "bytes" },
                     *@plan.bandwidths.map { |limit| { title: bits(limit), format: "seconds" } },
                     { title: "pays below", format: "bits", optional: 1 }]
          rows = @rows.product(Model::OPERATIONS).map do |row, operation|
            ["#{row.name}, #{operation}", results.bytes(row, @payload),
             *@plan.codec_points.map { |point| cell(row, @payload, operation, point) }, pays_below(row)]
          end
          note = "Pays below: up to this bandwidth a write and a read together are faster than with #{base.name}, " \
                 "reckoned from what was measured without a limit."
          Document::Table.build(columns: columns, rows: rows, notes: [note],
                                caption: "Time per call by bandwidth, without a round trip")
        end

        def pays_below(row)
          return "" if row == base

          deal = @model.deal(row, base)
          deal.verdict == :below ? interval(deal.bandwidth) : PAYS.fetch(deal.verdict)
        end

        def both(row, point)
          @model.both(row, @payload, point)
        end

        def median(row, point)
          Statistics.median(both(row, point))
        end

        def curves
          points = @plan.codec_points.select(&:bandwidth)
          return if points.size < 2

          series = @rows.map do |row|
            { label: row.name, points: points.reverse.map { |point| [point.bandwidth, median(row, point)] } }
          end
          Document::Curves.build(title: "A write and a read of #{@payload}", sentence: curves_sentence(points),
                                 x: { title: "bandwidth", scale: "log", format: "bits" }, series: series,
                                 y: { title: "time of both", scale: "log", format: "seconds" })
        end

        def curves_sentence(points)
          said = points.minmax_by(&:bandwidth).map do |point|
            best = @rows.min_by { |row| median(row, point) }
            "at #{bits(point.bandwidth)} #{best.name} has the least time, #{duration(median(best, point))}"
          end
          "#{upper(said.join("; "))}."
        end

        def stacked
          limit = @plan.bandwidths.compact.last or return
          point = Point.new(0.0, limit)
          bars = @rows.map do |row|
            parts = Model::OPERATIONS.map { |operation| @model.parts(row, @payload, operation, point) }
            { label: row.name, values: parts.transpose.map(&:sum) }
          end
          shares = bars.map { |bar| "#{bar[:label]} #{percent(bar[:values].last / bar[:values].sum)}" }
          Document::Stacked.build(title: "Where the time of both goes at #{bits(limit)}", parts: PARTS, rows: bars,
                                  sentence: "At #{bits(limit)}, sending is of the time: #{shares.join(", ")}.",
                                  x: { title: "time of a write and a read", format: "seconds" })
        end

        def pays(row)
          deal = @model.deal(row, base)
          case deal.verdict
          when :never then "#{row.name} is slower than #{base.name} at every bandwidth."
          when :always then "#{row.name} is faster than #{base.name} at every bandwidth."
          when :below then "#{row.name} is faster than #{base.name} below #{limits(deal)}."
          when :above then "#{row.name} is faster than #{base.name} above #{limits(deal)}."
          else "Without a limit, no difference is shown between #{row.name} and #{base.name}."
          end
        end

        def limits(deal)
          at = deal.bandwidth
          "#{bits(at.value)} (#{bits(at.low)} to #{bits(at.high)})"
        end

        # Named only where the interval of the ratio to the second says so.
        def fastest(limit)
          point = Point.new(0.0, limit)
          first, second = @rows.sort_by { |row| median(row, point) }
          return unless second

          ratios = Statistics.paired_ratios(both(second, point), both(first, point))
          ratio = Statistics.estimate(ratios)
          at = limit ? "At #{bits(limit)}" : "Without a limit"
          return "#{at}, no difference is shown between #{first.name} and #{second.name}." unless ratio.low > 1

          "#{at}, #{first.name} is the fastest; #{second.name} takes #{Reports::Figures.ratio(ratio)} times as long."
        end
      end
    end
  end
end
