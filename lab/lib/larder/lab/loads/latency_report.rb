# frozen_string_literal: true

# Builds the report chapter of `larder-lab latency`: tables and curves of percentiles, closed loop beside open loop.

require_relative "latencies"
require_relative "report"

module Larder
  module Lab
    module Loads
      # The chapter of `larder-lab latency`.
      class LatencyReport < Report
        KEY = "latency"
        TITLE = "How long calls take, and the slowest of them"
        # Shown in tables.
        SHARES = [0.5, 0.9, 0.99, 0.999, 0.9999].freeze
        # Points of a curve.
        POINTS = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.993, 0.995, 0.998, 0.999, 0.9995,
                  0.9999, 0.99995, 0.99999].freeze
        # Compared with other rows, and with other runs.
        COMPARED = [0.5, 0.99].freeze
        # Calls that are this part short of the schedule's rate could not keep up.
        SHORT = 0.95

        # @param results [Results]
        def initialize(results)
          super
          @latencies = Latencies.new(results)
        end

        private

        attr_reader :latencies

        def lead
          "Rails.cache.fetch([\"key\", i], expires_in: 5.minutes) { \"Hello World!\" } by one thread. Closed loop: " \
            "each call begins when the one before has ended. Open loop: calls are due at times of a schedule " \
            "(#{plan.settings[:arrivals]}), and latency counts from when they were due, so that what a stall keeps " \
            "waiting is counted."
        end

        def own_facts
          ["blocks of #{Figures.duration(plan.settings[:seconds])}"]
        end

        def sections
          [*latencies.views.map { |view| of_view(view) }, compared, own_share]
        end

        def of_view(view)
          section(capitalized(view.title), table(view), curves(view), intervals(view))
        end

        def table(view)
          D::Table.build(columns: [{ title: "µs" }, *percentile_columns, *rate_columns(view)],
                         rows: names.map { |name| [name, *percentiles(name, view), *rates(name, view)] },
                         notes: too_few(view))
        end

        def percentile_columns
          SHARES.each_with_index.map do |share, at|
            { title: label(share), format: "micros", optional: [0, 0, 0, 0, 3][at] }
          end << { title: "max", format: "micros" }
        end

        def percentiles(name, view)
          [*SHARES.map { |share| latencies.percentile(name, view, share) }, latencies.longest(name, view)]
        end

        def rate_columns(view)
          [({ title: "asked/s", format: "number", optional: 2 } if view.share),
           { title: "calls/s", format: "number", optional: 1 },
           { title: "objects/call", format: "number", optional: 4 },
           { title: "GC runs/1,000", format: "number", optional: 5 }].compact
        end

        def rates(name, view)
          blocks = latencies.blocks(name, view)
          [*(median(blocks) { |block| block["rate"] } if view.share),
           median(blocks) { |block| block["calls"] / block["seconds"] },
           median(blocks) { |block| block["allocated"].fdiv(block["calls"]) },
           median(blocks) { |block| 1000.0 * block["collections"] / block["calls"] }]
        end

        def median(blocks, &value)
          Statistics.median(blocks.map(&value))
        end

        def too_few(view)
          short = SHARES.reject { |share| names.all? { |name| latencies.merged(name, view).enough?(share) } }
          return [] if short.empty?

          needed = short.map { |share| "#{label(share)} needs #{Figures.thousands(Histogram.needed(share))}" }
          ["–: too few samples; #{needed.join(", ")}."]
        end

        def label(share)
          Reports::Cells.text(share, "percentile")
        end

        def curves(view)
          series = names.map { |name| { label: name, points: points(name, view), highlight: highlight?(name) } }
          D::Curves.build(title: capitalized(view.title), sentence: sentence(view), series: series,
                          x: { title: "percentile", scale: "percentile", format: "percentile" },
                          y: { title: "µs", scale: "log", format: "micros" })
        end

        def points(name, view)
          POINTS.filter_map do |share|
            seconds = latencies.percentile(name, view, share)
            [share, seconds] if seconds&.positive?
          end
        end

        def sentence(view)
          shown = told.map { |name| [name, *COMPARED.map { |share| latencies.percentile(name, view, share) }] }
          words = shown.select { |_, half, _| half }.sort_by { |_, half, _| half }.map do |name, half, most|
            "#{name} #{Figures.duration(half)}#{" and #{Figures.duration(most)}" if most}"
          end
          "Median and p99 of #{view.title}: #{words.join("; ")}."
        end

        # One kind of call at the tail, with every round.
        def intervals(view)
          return if view.share

          ratios = ratios_of(view, 0.99)
          rows = names.map do |name|
            median = ratios.median(name) or next { label: name, note: "too few samples in a round" }

            { label: name, highlight: highlight?(name), dots: ratios.samples(name), **median.transform_keys(&:to_sym) }
          end
          D::Intervals.build(title: "p99 of #{view.title}, every round", sentence: tail_sentence(view, ratios),
                             x: { title: "µs", scale: "log", format: "micros" }, rows: rows)
        end

        def tail_sentence(view, ratios)
          words = (ratios.ranking & told).map do |name|
            "#{name} #{Figures.duration(ratios.median(name)["value"])}"
          end
          "p99 of #{view.title}, median of the rounds: #{words.any? ? words.join(", ") : "too few samples"}."
        end

        # Medians over rounds, with intervals, for the rows of which every round has samples enough.
        def compared
          blocks = latencies.views.map { |view| beside_base(view) }
          section("Times as long as #{ratios_of(latencies.views.first, 0.5).base} (median over rounds)", *blocks)
        end

        def beside_base(view)
          by_share = COMPARED.map { |share| ratios_of(view, share) }
          rows = names.map { |name| [name, *by_share.map { |ratios| name == ratios.base ? "1" : ratios.cell(name) }] }
          columns = COMPARED.map { |share| { title: label(share), format: "ratio" } }
          D::Table.build(caption: view.title, columns: [{ title: "" }, *columns], rows: rows)
        end

        def ratios_of(view, share)
          (@ratios ||= {})[[view, share]] ||= ratios(names.to_h { |name| [name, latencies.samples(name, view, share)] })
        end

        def own_share
          own = names.map { |name| latencies.own(name) }
          readings, rounds = %w[reading round].map { |part| Statistics.median(own.map { |each| each[part] }) }
          fastest = shared.filter_map { |name| latencies.percentile(name, latencies.views.first, 0.5) }.min
          share = fastest&.positive? ? ", #{Figures.percent(readings / fastest)} of the fastest median hit" : ""
          section("The lab's own share",
                  D::Prose.new(text: "Reading the clock twice around nothing takes #{Figures.duration(readings)}" \
                                     "#{share}; this is subtracted from every latency above. With recording and " \
                                     "comparing, a round of the loop around nothing takes " \
                                     "#{Figures.duration(rounds)}, which is in calls/s."))
        end

        def conclusions
          view = latencies.views.first
          [fastest(view, 0.5), fastest(view, 0.99), stalls, noise(view)]
        end

        def fastest(view, share)
          ratios = ratios_of(view, share)
          first, second = (ratios.ranking & shared).first(2)
          return unless second

          cell = ratios.cell(second, first) or return
          place = "#{label(share)} of #{view.title}"
          return "#{place}: #{Ratios.no_difference(cell, first, second)}." if cell["same"]

          times = Reports::Cells.text(cell, "ratio")
          "#{place}: #{first} is the fastest shared store; #{second}, the next, takes #{times} times as long."
        end

        # What the closed loop hides.
        def stalls
          closed, *open = latencies.views.select { |view| view.operation == "hit" }
          name = (ratios_of(closed, 0.5).ranking & shared).first
          tails = [closed, open.last].compact.map { |view| latencies.percentile(name, view, 0.99) } if name
          return unless open.any? && tails&.all?

          "#{name}, p99 of a hit: #{Figures.duration(tails.first)} in the closed loop, " \
            "#{Figures.duration(tails.last)} from when the call was due at #{(open.last.share * 100).round} % of " \
            "that rate."
        end

        def noise(view)
          noise = ratios_of(view, 0.99).noise or return
          "Noise: two measurements of #{results.twins.last} lay up to #{Figures.percent(noise)} apart in p99 of " \
            "#{view.title}."
        end

        def own_warnings
          [*missed_hits, late, few]
        end

        # What a table cannot say.
        def few
          short = SHARES.filter_map do |share|
            rows = names.select { |name| latencies.views.any? { |view| !latencies.merged(name, view).enough?(share) } }
            "#{label(share)} of #{rows.join(", ")}" if rows.any?
          end
          "Too few samples in some table for #{short.join("; ")}: --seconds and --rounds give more." if short.any?
        end

        def missed_hits
          missed(names.to_h do |name|
            blocks = results.of(name, operation: "hit")
            [name, %w[block_runs calls].map { |part| blocks.sum { |block| block[part] } }]
          end)
        end

        # Rows that fell behind the schedule: their latencies say how long it lasted, not how the store is.
        def late
          rows = names.filter_map do |name|
            views = latencies.views.select do |view|
              view.share && latencies.blocks(name, view).any? { |block| behind?(block) }
            end
            "#{name} (#{views.map(&:short).join(", ")})" if views.any?
          end
          "Could not keep up with the schedule, so that latency grew for as long as it lasted: #{rows.join("; ")}." if
            rows.any?
        end

        def behind?(block)
          block["calls"] < block["asked"] || block["calls"] / block["seconds"] < SHORT * block["rate"] * expected(block)
        end

        # A schedule of few calls may be longer or shorter by chance.
        def expected(block)
          1 - (3 / Math.sqrt(block["asked"]))
        end

        def measures
          latencies.views.flat_map do |view|
            COMPARED.flat_map { |share| names.filter_map { |name| measure(name, view, share) } }
          end
        end

        def measure(name, view, share)
          percentile = label(share)
          ratios_of(view, share).measure(name, "#{percentile} of #{view.title}") do |row|
            "latency/#{view.key}/#{percentile}/#{row}"
          end
        end
      end
    end
  end
end
