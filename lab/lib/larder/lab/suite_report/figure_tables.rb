# frozen_string_literal: true

# Makes the tables, curves, sentences and measures of blocks that declare how their figures are shown.

require_relative "../document"
require_relative "findings"

module Larder
  module Lab
    module SuiteReport
      # The figures of a run, by the columns and curves of its blocks.
      class FigureTables
        # @param plan [Bench::Plan]
        # @param recorded [Hash{String=>Hash}] row => what a run has recorded of it
        # @param base [String, nil] the row that is emphasized
        # @param why [#call] answers why a row was not measured in a block
        def initialize(plan, recorded, base, why)
          @plan = plan
          @recorded = recorded
          @base = base
          @why = why
          @blocks = plan.blocks.select { |block| block.columns.any? }
        end

        # @return [Array<Document::Section>] one for each block with columns
        def sections
          @blocks.map do |block|
            about = Document::Prose.new(text: "#{begun(block.about)}.") if block.about
            parts = [about, table(block), *block.curves.map { |curve| curve(block, curve) }]
            Document::Section.new(title: begun(block.title), blocks: parts.compact, headline: true)
          end
        end

        # @return [Array<String>] of columns that have a sentence
        def sentences
          each_column.select { |_, column| column.sentence }.filter_map do |block, column|
            words = measured(block).filter_map do |row|
              value = column.of(processes(row, block))
              "#{row} #{Reports::Cells.text(value, column.format)}" if value
            end
            "#{column.sentence}: #{words.join(", ")}." if words.any?
          end
        end

        # @return [Array<String>] each with the rows that it concerns
        def warnings
          @blocks.flat_map do |block|
            block.warnings.filter_map do |text, concerned|
              rows = measured(block).select { |row| concerned.call(processes(row, block)) }
              "#{text}: #{rows.join(", ")}." if rows.any?
            end
          end
        end

        # @return [Array<Document::Measure>] of columns that are better lower or higher, a sample for each process
        def measures
          each_column.select { |_, column| column.better }.flat_map do |block, column|
            measured(block).filter_map { |row| measure(row, block, column) }
          end
        end

        private

        def each_column
          @blocks.flat_map { |block| block.columns.map { |column| [block, column] } }
        end

        def measure(row, block, column)
          samples = column.values(processes(row, block))
          return if samples.any?(&:nil?)

          key = [@plan.suite.key, block.key, column.title.tr(" /", "-"), row].join("/")
          Document::Measure.new(key: key, label: "#{row}: #{block.title}, #{column.title}", unit: column.unit,
                                better: column.better, samples: samples)
        end

        def table(block)
          columns = block.columns.map do |column|
            { title: column.title, format: column.format, optional: column.optional, align: "right" }
          end
          rows = measured(block).map { |row| [row, *block.columns.map { |column| cell(row, block, column) }] }
          missing = (@plan.rows - measured(block)).map { |row| [row, "not measured: #{@why.call(row, block)}"] }
          Document::Table.build(columns: [{ title: "" }, *columns], rows: rows + missing)
        end

        def cell(row, block, column)
          value = column.of(processes(row, block))
          return value if column.all || !column.better || value.nil?

          low, high = column.values(processes(row, block)).minmax
          low == high ? value : { "value" => value, "low" => low, "high" => high }
        end

        def curve(block, curve)
          series = measured(block).map do |row|
            { label: row, points: curve.points.call(processes(row, block)), highlight: row == @base }
          end
          series.reject! { |line| line[:points].empty? }
          return if series.empty?

          Document::Curves.build(title: curve.title, sentence: sentence(curve, series), series: series, x: curve.x,
                                 y: curve.y)
        end

        def sentence(curve, series)
          words = series.map do |line|
            ends = line[:points].map(&:last).minmax.map { |value| Reports::Cells.text(value, curve.y[:format]) }
            "#{line[:label]} #{Reports::Cells.range(*ends)}"
          end
          "#{curve.title}, least and most: #{words.join(", ")}."
        end

        def measured(block)
          @plan.rows.select { |row| processes(row, block).any? }
        end

        # The figures of each process.
        def processes(row, block)
          figures = @recorded.dig(row, "figures", block.key).to_h
          figures.values.transpose.map { |values| figures.keys.zip(values).to_h }
        end

        # With a capital, and without changing other letters.
        def begun(words)
          words[0].upcase + words[1..]
        end
      end
    end
  end
end
