# frozen_string_literal: true

# Computes on which wires each compressor is the fastest: its work, and the time that the remaining bytes take.

require_relative "../document"
require_relative "../published"
require_relative "findings"

module Larder
  module Lab
    module SuiteReport
      # The published figures and those measured here, as ranges of bandwidths.
      class Wire
        Figures = Reports::Figures
        NOTES = ["On a wire outside of a cell's bandwidths another compressor is faster. Published, and here, " \
                 "compressing: with the time of compressing alone, as the article measured it."].freeze
        private_constant :NOTES

        # @param plan [Bench::Plan]
        # @param findings [Findings]
        def initialize(plan, findings)
          @article = Published.of(plan.suite.key)
          @findings = findings
          payloads = [@article&.wire&.fetch("payload"), "given"]
          @blocks = %w[compress decompress].map do |operation|
            plan.blocks.find { |block| block.heading == operation && payloads.include?(block.axes["payload"]) }
          end
        end

        # @return [Document::Table, nil] nil for a suite without wires, or if nothing was measured
        def table
          return unless @article&.wire && @blocks.all?

          figures = [published, measured(@blocks.first(1)), measured(@blocks)]
          names = figures.flat_map(&:keys).uniq
          rows = names.map { |name| [name, *figures.map { |all| words(all[name], all.values) }] }
          Document::Table.new(caption: "The fastest on a wire, by its bandwidth", notes: NOTES, rows: rows,
                              columns: ["", "published", "here, compressing", "here, both ways"])
        end

        private

        # @return [Hash{String=>Array(Numeric, Float)}] bytes and seconds of work, by compressor
        def published
          rows = @article.tables.first.rows.select { |name, (_, bytes, rate)| bytes && (rate || name == "none") }
          rows.transform_values { |_, bytes, rate| [bytes, rate ? 1.0 / rate : 0.0] }
        end

        # Nothing is done to bytes that are not compressed.
        def measured(blocks)
          @findings.rows.filter_map do |row|
            bytes = @findings.figure(row, blocks.first, "bytes")
            times = blocks.map { |block| @findings.seconds(row, block) }
            [row, [bytes, row == "none" ? 0.0 : times.sum]] if bytes && times.all?
          end.to_h
        end

        # The bandwidths at which these bytes and seconds take the least of all: seconds + 8 * bytes / bandwidth.
        def words(figures, all)
          bytes, seconds = figures || return
          others = all - [figures]
          return "nowhere" if others.any? { |size, work| size <= bytes && work <= seconds }

          crossings = others.group_by { |size, _| size < bytes }.transform_values do |some|
            bandwidths = some.map { |size, work| 8 * (size - bytes) / (seconds - work) }
            bandwidths.select { |bits| bits.positive? && bits.finite? }
          end
          range(crossings[true]&.max, crossings[false]&.min)
        end

        def range(from, to)
          return "everywhere" unless from || to
          return "nowhere" if from && to && from >= to
          return "up to #{Figures.bits(to)}" unless from

          to ? "#{Figures.bits(from)} to #{Figures.bits(to)}" : "above #{Figures.bits(from)}"
        end
      end
    end
  end
end
