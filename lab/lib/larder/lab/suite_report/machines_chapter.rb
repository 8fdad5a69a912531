# frozen_string_literal: true

# Adds to a chapter of a suite: the reads that a machine's file answers, and how old answers are.

require_relative "chapter"
require_relative "../histogram"

module Larder
  module Lab
    module SuiteReport
      # The chapter of machines that share a store.
      class MachinesChapter < Chapter
        SECONDS = { format: "seconds" }.freeze
        READING = [{ title: "" }, { title: "answered by file", format: "percent" }, { title: "mean", **SECONDS },
                   { title: "95 %", **SECONDS }, { title: "reads", format: "integer", optional: 1 }].freeze
        READING_NOTE = "Answered by file: the share of all reads whose key had a copy on the machine."
        SEEN = [{ title: "" }, { title: "50 %", **SECONDS }, { title: "99 %", **SECONDS },
                { title: "oldest", **SECONDS }, { title: "bound", **SECONDS },
                { title: "changes", format: "integer", optional: 1 }].freeze
        SEEN_NOTE = "An age counts from the return of the write to the begin of the last read on the other machine " \
                    "that answered what was before; 0 s: none did. No read that begins after the bound does, " \
                    "whatever fails. With fewer than 1,000 changes 99 % is near the oldest."
        private_constant :SECONDS, :READING, :READING_NOTE, :SEEN, :SEEN_NOTE

        private

        def conclusions
          hits = blocks("hit_").map do |block|
            "Time of a #{block.title}: #{list(@findings.ranking(block)) { |row| @findings.seconds(row, block) }}."
          end
          oldest = blocks("seen_").map do |block|
            "Oldest answer after #{block.title}: #{list(measured(block)) { |row| seen_cells(row, block)[2] }}."
          end
          [*super, *(hits if @findings.base), *(oldest if @findings.base)]
        end

        def list(rows)
          rows.map { |row| "#{row} #{Figures.duration(yield(row))}" }.join(", ")
        end

        def sections
          return super unless @findings.base

          first, *others = super
          [first, table_of("A machine that reads while another changes values", "reading_", READING, READING_NOTE),
           table_of("How old answers are after a change on another machine", "seen_", SEEN, SEEN_NOTE), *others].compact
        end

        def blocks(beginning)
          @plan.blocks.select { |block| block.key.start_with?(beginning) }
        end

        def table_of(title, beginning, columns, note)
          rows = blocks(beginning).flat_map do |block|
            trip = block.title[/[^,]+\z/].strip
            measured(block).map { |row| [trip, row, *send("#{beginning}cells", row, block)] }
          end
          return if rows.empty?

          table = Document::Table.build(columns: [{ title: "" }, *columns], rows: rows, notes: [note])
          section(title, table, headline: true)
        end

        def measured(block)
          @findings.rows.select { |row| all(row, block, "histogram").any? }
        end

        def reading_cells(row, block)
          times = pooled(row, block)
          shares = all(row, block, "by_file")
          [(shares.sum / shares.size if shares.any?), times.mean, times.quantile(0.95), times.count]
        end

        def seen_cells(row, block)
          ages = pooled(row, block)
          [ages.quantile(0.5), ages.quantile(0.99), ages.max * Histogram::SECONDS,
           @findings.figure(row, block, "bound"), ages.count]
        end

        # @return [Histogram] of all sessions and copies
        def pooled(row, block)
          parts = all(row, block, "histogram")
          Histogram.merge(parts.map { |part| Histogram.from_h(part.transform_keys(&:to_s)) })
        end

        # One figure of each process.
        def all(row, block, name)
          @conductor.recorded.dig(row, "figures", block.key, name).to_a
        end
      end
    end
  end
end
