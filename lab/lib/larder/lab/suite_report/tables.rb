# frozen_string_literal: true

require_relative "../document"
require_relative "findings"

module Larder
  module Lab
    module SuiteReport
      # Tables of suites with many blocks: blocks that differ by their operation are columns of one table.
      class AxisTables
        # Points on the axes that have a table each; of more there is one table for all.
        APART = 4
        LIKENESS = "* brings back a likeness, not the value: Hashes for records, text for times."
        # Figures besides times: title and format.
        FIGURES = { "bytes" => %w[bytes integer], "session" => %w[bytes/session integer],
                    "memory" => ["server holds", "bytes"], "answering" => ["server's read", "seconds"],
                    "computed" => %w[computed integer] }.freeze

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
          [*leading, "", *FIGURES.values_at(*figures), *blocks.map { |block| [block.heading, "seconds"] }]
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

      # The fastest compressor on a wire, by its work and the time that the remaining bytes take, with the published
      # figures and with those measured here.
      class Wire
        # Bits a second.
        BANDWIDTHS = [1e6, 1e7, 1e8, 1e9, 1e10].freeze
        NOTES = ["Published, and here, compressing: by the time of compressing alone, as in the article."].freeze

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
          rows = BANDWIDTHS.map { |bits| [Figures.bits(bits), *figures.map { |all| fastest(all, bits) }] }
          caption = "The fastest compressor of #{@blocks.first.axes["payload"]}, by the bandwidth of a wire"
          Document::Table.new(caption: caption, notes: NOTES, rows: rows,
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

        def fastest(figures, bits)
          figures.min_by { |_, (bytes, seconds)| seconds + (8 * bytes / bits) }&.first
        end
      end

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
            about = Document::Prose.new(text: "#{Figures.begun(block.about)}.") if block.about
            parts = [about, table(block), *block.curves.map { |curve| curve(block, curve) }]
            Document::Section.new(title: Figures.begun(block.title), blocks: parts)
          end
        end

        # @return [Array<String>] of columns that have a sentence
        def sentences
          each_column.select { |_, column| column.sentence }.filter_map do |block, column|
            words = measured(block).filter_map do |row, processes|
              value = column.of(processes)
              "#{row} #{Figures.text(value, column.format)}" if value
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
          sessions = samples.each_slice(@plan.suite.copies).map { |processes| Bench::Stats.median(processes) }
          Document::Measure.new(key: key, label: "#{row}: #{block.title}, #{column.title}", unit: column.unit,
                                better: column.better, samples: samples, by_session: sessions)
        end

        # The time that is compared comes first.
        def table(block)
          title = block.call ? "time/#{block.unit}" : ("mean" if @plan.suite.answers.include?(block.key))
          time = [[title, "seconds"]] if title
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
            ends = line["points"].map(&:last).minmax.map { |value| Figures.text(value, curve.y[:format]) }
            "#{line["label"]} #{Figures.range(*ends)}"
          end
          ends = curve.x[:scale] == "percentile" ? "the first and the last percentile" : "least and most"
          "#{curve.title}, #{ends}: #{words.join(", ")}."
        end

        # @return [Hash{String=>Array<Hash>}] row => the figures of its processes
        def measured(block)
          @plan.rows.to_h { |row| [row, @findings.processes(row, block)] }.reject { |_, processes| processes.empty? }
        end
      end
    end
  end
end
