# frozen_string_literal: true

# Makes tables of suites with many blocks: blocks that differ by their operation are columns of one table.

require_relative "../document"
require_relative "findings"

module Larder
  module Lab
    module SuiteReport
      # The blocks of a suite by their axes.
      class AxisTables
        # Points on the axes that have a table each; of more there is one table for all.
        APART = 4
        LIKENESS = "* brings back a likeness, not the value: Hashes for records, text for times."
        # Figures besides times: title and format.
        FIGURES = { "bytes" => %w[bytes integer], "memory" => ["server holds", "bytes"],
                    "answering" => ["server's read", "seconds"], "computed" => %w[computed integer] }.freeze
        private_constant :LIKENESS, :FIGURES

        # @param plan [Bench::Plan]
        # @param findings [Findings]
        def initialize(plan, findings)
          @rows = plan.rows
          @findings = findings
          points = plan.blocks.select(&:axes).group_by(&:axes)
          @sheets = points.group_by { |axes, _| axes.keys }.transform_values(&:to_h)
        end

        # @return [Boolean] whether many blocks are in one table, so that they have no other
        def together? = @sheets.each_value.any? { |points| points.size > APART }

        # @return [Array<Document::Table>] none for a suite without axes
        def tables
          @sheets.flat_map do |names, points|
            next [build(nil, names, points)] if points.size > APART

            points.map do |axes, blocks|
              build(axes.map { |name, value| "#{name}: #{value}" }.join(", "), [], { axes => blocks })
            end
          end
        end

        private

        # @param leading [Array<String>] axes that are columns
        def build(caption, leading, points)
          blocks = points.values.first
          figures = FIGURES.keys.select { |name| shown?(name, blocks) }
          rows = points.flat_map do |axes, all|
            lines(all, figures).map { |cells| [*axes.slice(*leading).values, *cells] }
          end
          Document::Table.new(caption: caption, columns: columns(leading, figures, blocks), rows: rows,
                              notes: rows.flatten.grep(/ \*\z/).any? ? [LIKENESS] : [])
        end

        # A line has one size, unless its blocks work on different values.
        def shown?(name, blocks)
          measured = @rows.map { |row| blocks.filter_map { |block| @findings.figure(row, block, name) } }
          measured.any?(&:any?) && (name != "bytes" || measured.all? { |found| found.uniq.size < 2 })
        end

        def columns(leading, figures, blocks)
          [*leading, "",
           *figures.each_with_index.map do |name, at|
             { title: FIGURES[name].first, format: FIGURES[name].last, optional: at }
           end,
           *blocks.map { |block| [block.heading, "seconds"] }]
        end

        def lines(blocks, figures)
          measured = @rows.select { |row| blocks.any? { |block| @findings.seconds(row, block) } }
          measured = measured.sort_by { |row| @findings.seconds(row, blocks.last) || Float::INFINITY }
          measured.map { |row| line(row, blocks, figures) } +
            (@rows - measured).map { |row| @findings.missing(row, blocks.first) }
        end

        def line(row, blocks, figures)
          star = " *" if known(row, blocks, "keeps") == 0
          ["#{row}#{star}", *figures.map { |name| known(row, blocks, name) },
           *blocks.map { |block| @findings.seconds(row, block) }]
        end

        # A figure of any of the blocks.
        def known(row, blocks, name) = blocks.filter_map { |block| @findings.figure(row, block, name) }.first
      end
    end
  end
end
