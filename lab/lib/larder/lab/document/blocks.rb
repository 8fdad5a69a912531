# frozen_string_literal: true

# The parts of a chapter: sections, and in them tables, charts, lists, prose and code. They are plain data, so that
# they can be written as JSON and read again. The formats in reports/ decide how they look.

module Larder
  module Lab
    class Document
      # Blocks by the kinds that their data name.
      module Blocks
        # Answers the class of a kind.
        # @return [Hash{String=>Class}]
        def self.kinds
          { "table" => Table, "intervals" => Intervals, "curves" => Curves, "stacked" => Stacked, "list" => List,
            "prose" => Prose, "code" => Code }
        end

        # @param hash [Hash{String=>Object}] from JSON
        # @return [Table, Intervals, Curves, Stacked, List, Prose, Code]
        def self.from_h(hash)
          fields = hash.transform_keys(&:to_sym)
          kinds.fetch(fields.delete(:kind)).build(**fields)
        end
      end

      # A heading with blocks under it. headline: true for what a reader wants first; a page begins with it, a terminal
      # ends with it. folded: true for details, which a page shows when its reader asks.
      Section = Struct.new(:title, :blocks, :headline, :folded, keyword_init: true) do
        # @param hash [Hash{String=>Object}]
        # @return [Section]
        def self.from_h(hash)
          new(title: hash["title"], headline: hash["headline"], folded: hash["folded"],
              blocks: hash["blocks"].map { |block| Blocks.from_h(block) })
        end

        # @return [Hash]
        def to_h
          { title: title, headline: headline == true, folded: folded == true,
            blocks: blocks.map { |block| { kind: block.kind, **block.to_h } } }
        end
      end

      # What blocks have in common.
      module Block
        # @return [String] the name that stands in JSON
        def kind
          self.class::KIND
        end

        # Extended by the classes.
        module Build
          # @param fields [Hash{Symbol=>Object}] plain data, from JSON or from a command
          # @return [Block]
          def build(**fields)
            new(**fields.slice(*members))
          end
        end

        # @param base [Class]
        # @return [void]
        def self.included(base)
          base.extend(Build)
        end
      end

      # One column of a table. format: how its numbers are written (see Reports::Cells); align: "left" or "right", nil:
      # by the format; optional: 0 stays however narrow the terminal is, the greatest goes first; group: a heading over
      # neighbours, of which every group has as many.
      Column = Struct.new(:title, :format, :align, :optional, :group, keyword_init: true) do
        # @param given [Column, Hash]
        # @return [Column]
        def self.build(given)
          given.is_a?(self) ? given : new(**given.transform_keys(&:to_sym))
        end

        # @return [Boolean]
        def left?
          align ? align == "left" : [nil, "text", "ratio", "flag"].include?(format)
        end
      end

      # Cells are Strings, which are shown as they are, numbers in the format of their column, true and false, nil, or
      # an interval: `{ "value" =>, "low" =>, "high" =>, "same" =>, "verdict" => }`, where "same" says that no
      # difference is shown, and "verdict", if any, is that of Bench::Verdict. A row that is shorter than the table ends
      # in words that run to the edge: why there are no figures.
      #
      # caption: what the table shows; columns: {Column}s; rows: Arrays of cells; notes: sentences under it.
      Table = Struct.new(:caption, :columns, :rows, :notes, keyword_init: true) do
        include Block

        # Takes the fields as plain data, too.
        # @return [Block]
        def self.build(columns:, rows:, caption: nil, notes: [])
          new(caption: caption, columns: columns.map { |column| Column.build(column) }, rows: rows, notes: notes || [])
        end

        # @return [Hash]
        def to_h
          { caption: caption, columns: columns.map { |column| column.to_h.compact }, rows: rows, notes: notes }
        end
      end
      Table::KIND = "table"

      # An axis. scale: "linear", "log" or "percentile" (of a share from 0 to 1: 0.9, 0.99, 0.999 lie equally far
      # apart); format: of its numbers, see Reports::Cells.
      Axis = Struct.new(:title, :scale, :format, keyword_init: true) do
        # @param given [Axis, Hash]
        # @return [Axis]
        def self.build(given)
          given.is_a?(self) ? given : new(scale: "linear", **given.transform_keys(&:to_sym))
        end
      end

      # Dots with intervals, a row for each thing compared. Rows are `{ "label" =>, "value" =>, "low" =>, "high" =>,
      # "dots" => [raw samples], "highlight" => true for Larder, "note" => why there is nothing }`.
      # title: what is compared; sentence: what the chart shows, with figures; x: {Axis}; reference: value of a line.
      Intervals = Struct.new(:title, :sentence, :x, :rows, :reference, keyword_init: true) do
        include Block

        # Takes the fields as plain data, too.
        # @return [Block]
        def self.build(title:, sentence:, x:, rows:, reference: nil)
          new(title: title, sentence: sentence, x: Axis.build(x), rows: rows.map { |row| row.transform_keys(&:to_s) },
              reference: reference)
        end

        # @return [Hash]
        def to_h
          { title: title, sentence: sentence, x: x.to_h, rows: rows, reference: reference }
        end

        # @return [Table] its figures
        def data
          columns = [Column.new(title: "", format: "text"),
                     Column.new(title: x.title, format: x.format),
                     Column.new(title: "from", format: x.format), Column.new(title: "to", format: x.format)]
          cells = rows.map do |row|
            row["value"] ? row.values_at("label", "value", "low", "high") : [row["label"], row["note"].to_s]
          end
          Table.build(columns: columns, rows: cells)
        end
      end
      Intervals::KIND = "intervals"

      # Lines through points. Series are `{ "label" =>, "points" => [[x, y], …], "highlight" => }`. Points may be few
      # (scaling) or many (percentile curves).
      Curves = Struct.new(:title, :sentence, :x, :y, :series, keyword_init: true) do
        include Block

        # Takes the fields as plain data, too.
        # @return [Block]
        def self.build(title:, sentence:, x:, y:, series:)
          new(title: title, sentence: sentence, x: Axis.build(x), y: Axis.build(y),
              series: series.map { |line| line.transform_keys(&:to_s) })
        end

        # @return [Hash]
        def to_h
          { title: title, sentence: sentence, x: x.to_h, y: y.to_h, series: series }
        end

        # @return [Table] a row for each x, a column for each series
        def data
          columns = [Column.new(title: x.title, format: x.format),
                     *series.map { |line| Column.new(title: line["label"], format: y.format) }]
          points = series.map { |line| line["points"].to_h }
          Table.build(columns: columns, caption: y.title,
                      rows: points.flat_map(&:keys).uniq.sort.map { |at| [at, *points.map { |line| line[at] }] })
        end
      end
      Curves::KIND = "curves"

      # Bars cut into parts: where time, or room, goes. parts: names; rows: `{ "label" =>, "values" => [one for each
      # part], "highlight" => }`, and optionally "low" and "high", the interval of the first part, and "figure", which
      # stands in place of the sum. remainder: true if the last part is only what is left of the whole.
      Stacked = Struct.new(:title, :sentence, :x, :parts, :rows, :remainder, keyword_init: true) do
        include Block

        # Takes the fields as plain data, too.
        # @return [Block]
        def self.build(title:, sentence:, x:, parts:, rows:, remainder: nil)
          new(title: title, sentence: sentence, x: Axis.build(x), parts: parts, remainder: remainder,
              rows: rows.map { |row| row.transform_keys(&:to_s) })
        end

        # @return [Hash]
        def to_h
          { title: title, sentence: sentence, x: x.to_h, parts: parts, rows: rows, remainder: remainder == true }
        end

        # @return [Table] a row for each bar, a column for each part, and the sum
        def data
          figures = [*parts, "together"].map { |part| Column.new(title: part, format: x.format) }
          cells = rows.map do |row|
            values = row["values"]
            values.compact.any? ? [row["label"], *values, values.compact.sum] : [row["label"], row["note"].to_s]
          end
          Table.build(columns: [Column.new(title: ""), *figures], caption: x.title, rows: cells)
        end
      end
      Stacked::KIND = "stacked"

      # Sentences, each by itself. items: Array of Strings.
      List = Struct.new(:items, keyword_init: true) { include Block }
      List::KIND = "list"

      # A paragraph.
      Prose = Struct.new(:text, keyword_init: true) { include Block }
      Prose::KIND = "prose"

      # Something to paste. language: "ruby", "yaml", "sh".
      Code = Struct.new(:text, :language, keyword_init: true) { include Block }
      Code::KIND = "code"
    end
  end
end
