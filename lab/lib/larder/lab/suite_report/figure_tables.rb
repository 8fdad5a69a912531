# frozen_string_literal: true

require_relative "../document"
require_relative "findings"

module Larder
  module Lab
    module SuiteReport
      # Makes the tables, curves, sentences and measures of blocks that declare how their figures are shown.
      class FigureTables
        def initialize(plan, findings)
          @plan = plan
          @findings = findings
          @blocks = plan.blocks.select { |block| block.columns.any? }
        end

        # @return [Array<Document::Section>] one for each block with columns
        def sections
          @blocks.map do |block|
            about = Document::Prose.new(text: "#{Reports::Figures.begun(block.about)}.") if block.about
            parts = [about, table(block), *block.curves.map { |curve| curve(block, curve) }]
            Document::Section.new(title: Reports::Figures.begun(block.title), blocks: parts, headline: true)
          end
        end

        # @return [Array<String>] of columns that have a sentence
        def sentences
          each_column.select { |_, column| column.sentence }.filter_map do |block, column|
            words = measured(block).filter_map do |row, processes|
              value = column.of(processes)
              "#{row} #{Reports::Figures.text(value, column.format)}" if value
            end
            "#{column.sentence}: #{words.join(", ")}." if words.any?
          end
        end

        # @return [Array<String>] each with the rows that it concerns
        def warnings
          @blocks.flat_map do |block|
            block.warnings.filter_map do |text, concerned|
              rows = measured(block).select { |_, processes| concerned.call(processes) }
              "#{text}: #{rows.keys.join(", ")}." if rows.any?
            end
          end
        end

        # @return [Array<Document::Measure>] of columns that are better lower or higher, a sample for each process
        def measures
          each_column.select { |_, column| column.better }.flat_map do |block, column|
            measured(block).filter_map { |row, processes| measure(row, block, column, column.values(processes)) }
          end
        end

        private

        def each_column = @blocks.flat_map { |block| block.columns.map { |column| [block, column] } }

        def measure(row, block, column, samples)
          return if samples.any?(&:nil?)

          key = [@plan.suite.key, block.key, column.title.tr(" /", "-"), row].join("/")
          Document::Measure.new(key: key, label: "#{row}: #{block.title}, #{column.title}", unit: column.unit,
                                better: column.better, samples: samples)
        end

        # The time of a call comes first, where rows take turns.
        def table(block)
          time = [["time/#{block.unit}", "seconds"]] if block.call
          columns = block.columns.map { |column| column.to_h.slice(:title, :format) }
          rows = measured(block).map do |row, processes|
            [row, *(@findings.seconds(row, block) if time), *block.columns.map { |column| cell(processes, column) }]
          end
          missing = (@plan.rows - measured(block).keys).map { |row| @findings.missing(row, block) }
          Document::Table.new(columns: ["", *time, *columns], rows: rows + missing)
        end

        def cell(processes, column)
          value = column.of(processes)
          return value if column.all || !column.better || value.nil?

          low, high = column.values(processes).minmax
          low == high ? value : { "value" => value, "low" => low, "high" => high }
        end

        def curve(block, curve)
          series = measured(block).map { |row, processes| { "label" => row, "points" => curve.points.call(processes) } }
          series.reject! { |line| line["points"].empty? }
          return if series.empty?

          Document::Curves.new(title: curve.title, sentence: sentence(curve, series), series: series, x: curve.x,
                               y: curve.y)
        end

        def sentence(curve, series)
          words = series.map do |line|
            ends = line["points"].map(&:last).minmax.map { |value| Reports::Figures.text(value, curve.y[:format]) }
            "#{line["label"]} #{Reports::Figures.range(*ends)}"
          end
          "#{curve.title}, least and most: #{words.join(", ")}."
        end

        # @return [Hash{String=>Array<Hash>}] row => the figures of its processes
        def measured(block)
          @plan.rows.to_h { |row| [row, @findings.processes(row, block)] }.reject { |_, processes| processes.empty? }
        end
      end
    end
  end
end
