# frozen_string_literal: true

# Computes on which wires each compressor is the fastest: its work, and the time that the remaining bytes take.

require_relative "../break_even"
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

          columns = ["published", "here, compressing", "here, both ways"]
          reaches = [published, measured(@blocks.first(1)), measured(@blocks)].map { |lines| reaches(lines) }
          names = reaches.flat_map(&:keys).uniq
          Document::Table.build(caption: "The fastest on a wire, by its bandwidth", notes: NOTES,
                                columns: [{ title: "" }, *columns.map { |title| { title: title } }],
                                rows: names.map { |name| [name, *reaches.map { |each| each[name] }] })
        end

        # @param lines [Hash{String=>Array(Numeric, Float)}] bytes and seconds of work, by compressor
        # @return [Hash{String=>String}]
        def reaches(lines)
          pieces = BreakEven.of_bandwidth(lines).by_bandwidth.to_h { |piece| [piece.name, words(piece)] }
          lines.to_h { |name, _| [name, pieces.fetch(name, "nowhere")] }
        end

        private

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

        def words(piece)
          from = Figures.bits(piece.from) unless piece.from.zero?
          to = Figures.bits(piece.to) unless piece.to.infinite?
          return "everywhere" unless from || to
          return "up to #{to}" unless from

          to ? "#{from} to #{to}" : "above #{from}"
        end
      end
    end
  end
end
