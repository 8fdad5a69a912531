# frozen_string_literal: true

# Adds to a chapter of a suite: percentiles of single calls, as tables and curves.

require_relative "chapter"
require_relative "../histogram"

module Larder
  module Lab
    module SuiteReport
      # The chapter of calls that were timed one by one.
      class TailsChapter < Chapter
        # Shown in tables.
        SHARES = [0.5, 0.99, 0.999].freeze
        # Points of a curve.
        POINTS = [0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999].freeze
        # A row that made calls at a smaller part of the rate could not keep up.
        SHORT = 0.9
        private_constant :SHARES, :POINTS, :SHORT

        private

        def facts
          rate, seconds = @plan.suite.settings.values_at(:rate, :block_seconds)
          ["#{Figures.significant(rate)} calls a second for #{Figures.duration(seconds)}, at random times", *super]
        end

        def warnings
          [*super, *@plan.blocks.filter_map { |block| late(block) }]
        end

        # Their latencies tell how long the schedule was, not how the store is.
        def late(block)
          rows = @findings.rows.select { |row| behind?(row, block) }
          "Could not keep up with the rate of #{block.title}: #{rows.join(", ")}." if rows.any?
        end

        def behind?(row, block)
          calls = histogram(row, block)&.count
          asked, due, taken = %w[asked due taken].map { |name| all(row, block, name).sum }
          calls && calls * due < asked * taken * SHORT
        end

        def conclusions
          [*super, *@plan.blocks.filter_map { |block| sentence_of(block) }]
        end

        def sentence_of(block)
          tails = shown(block).filter_map { |row| (p99 = percentile(row, block, 0.99)) && [row, p99] }.sort_by(&:last)
          return if tails.empty?

          words = tails.map { |row, p99| "#{row} #{Figures.duration(p99)}" }
          "p99 of #{block.title}: #{words.join(", ")}."
        end

        def sections
          return super unless @findings.base

          first, *others = super
          [*@plan.blocks.map { |block| section(begun(block.title), tail_table(block), curves(block), headline: true) },
           first, *others, section("The lab's own share", own_share, folded: true)]
        end

        def shown(block)
          @findings.rows.select { |row| histogram(row, block) }
        end

        def tail_table(block)
          columns = [{ title: "" }, *SHARES.map { |share| { title: label(share), format: "micros" } },
                     { title: "slowest", format: "micros" }, { title: "calls", format: "integer", optional: 1 },
                     { title: "objects/call", format: "number", optional: 2 }]
          rows = shown(block).sort_by { |row| percentile(row, block, 0.99) || 0.0 }.map { |row| tail(row, block) }
          Document::Table.build(caption: "Microseconds", columns: columns, rows: rows,
                                notes: ["–: fewer than ten samples lie beyond."])
        end

        def tail(row, block)
          histogram = histogram(row, block)
          [row, *SHARES.map { |share| histogram.percentile(share) }, histogram.max * Histogram::SECONDS,
           histogram.count, all(row, block, "allocated").sum.fdiv(histogram.count)]
        end

        def curves(block)
          series = shown(block).map do |row|
            points = POINTS.filter_map { |share| (value = percentile(row, block, share)) && [share, value] }
            { label: row, points: points, highlight: row == @findings.base }
          end
          Document::Curves.build(title: begun(block.title), sentence: sentence_of(block) || "Too few samples.",
                                 series: series, x: { title: "percentile", scale: "percentile", format: "percentile" },
                                 y: { title: "µs", scale: "log", format: "micros" })
        end

        def own_share
          own = @findings.rows.product(@plan.blocks).flat_map { |row, block| all(row, block, "own") }
          Document::Prose.new(text: "Reading the clock twice around nothing takes " \
                                    "#{Figures.duration(Bench::Stats.median(own))}, which is in every figure.")
        end

        def label(share)
          Reports::Cells.text(share, "percentile")
        end

        def percentile(row, block, share)
          histogram(row, block).percentile(share)
        end

        # @return [Histogram, nil] of all sessions and copies
        def histogram(row, block)
          (@histograms ||= {})[[row, block.key]] ||= begin
            parts = all(row, block, "histogram")
            Histogram.merge(parts.map { |part| Histogram.from_h(part.transform_keys(&:to_s)) }) if parts.any?
          end
        end

        # One figure of each process.
        def all(row, block, name)
          @conductor.recorded.dig(row, "figures", block.key, name).to_a
        end
      end
    end
  end
end
