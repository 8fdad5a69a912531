# frozen_string_literal: true

# The parts of a chapter: sections, and in them tables, charts, lists, prose and code. They are plain data, so that
# they can be written as JSON and read again. The formats in reports/ decide how they look.

module Larder
  module Lab
    class Document
      # What blocks have in common. Those that have parts are made of plain data by `build`.
      module Block
        # @param hash [Hash{String=>Object}] from JSON
        # @return [Block] a sentence in place of a kind that is not known
        def self.from_h(hash)
          fields = hash.transform_keys(&:to_sym)
          type = [Table, Curves, List, Prose, Code].find { |each| each.kind == fields.fetch(:kind) }
          return Prose.new(text: "This larder-lab does not show blocks of the kind #{fields[:kind]}.") unless type

          type.public_send(type.respond_to?(:build) ? :build : :new, **fields.slice(*type.members))
        end

        # @param base [Class]
        # @return [void]
        def self.included(base) = base.define_singleton_method(:kind) { name[/\w+\z/].downcase }

        # @return [String] the name that stands in JSON
        def kind = self.class.kind

        # @return [Hash] plain data, with the kind
        def to_h = { kind: kind, **super }
      end

      # A heading with blocks under it. headline: true for what a reader wants first; a page begins with it, a terminal
      # ends with it. folded: true for details, which a page shows when its reader asks.
      Section = Struct.new(:title, :blocks, :headline, :folded, keyword_init: true) do
        # @param hash [Hash{String=>Object}]
        # @return [Section]
        def self.from_h(hash)
          new(title: hash["title"], headline: hash["headline"], folded: hash["folded"],
              blocks: hash["blocks"].map { |block| Block.from_h(block) })
        end

        # @return [Hash]
        def to_h
          { title: title, headline: headline == true, folded: folded == true, blocks: blocks.map(&:to_h) }
        end
      end

      # One column of a table. format: how its numbers are written (see Reports::Cells); align: "left" or "right", nil:
      # by its cells; optional: 0 stays however narrow the terminal is, the greatest goes first; group: a heading over
      # neighbours; all groups of a table have as many; plot: "linear" or "log", the scale of a drawing next to figures.
      Column = Struct.new(:title, :format, :align, :optional, :group, :plot, keyword_init: true)

      # Cells are Strings, which are shown as they are, numbers in the format of their column, true and false, nil, or
      # an interval: `{ "value" =>, "low" =>, "high" =>, "same" =>, "verdict" =>, "dots" => }`, where "same" says that
      # no difference is shown, "verdict", if any, is that of Bench::Verdict, and "dots" are raw samples. A row that is
      # shorter than the table ends in words that run to the edge: why there are no figures.
      #
      # caption: what the table shows; columns: {Column}s; rows: Arrays of cells; notes: sentences under it.
      Table = Struct.new(:caption, :columns, :rows, :notes, keyword_init: true) do
        include Block

        # @param columns [Array<Column, Hash>]
        # @return [Table]
        def self.build(columns:, rows:, caption: nil, notes: [])
          columns = columns.map { |column| Column.new(**column.to_h.transform_keys(&:to_sym)) }
          rows = rows.map { |row| row.map { |cell| cell.is_a?(Hash) ? cell.transform_keys(&:to_s) : cell } }
          new(caption: caption, columns: columns, rows: rows, notes: notes || [])
        end

        # @return [Hash]
        def to_h = super.merge(columns: columns.map { |column| column.to_h.compact })

        # @param at [Integer] a column
        # @return [Boolean] whether its cells begin at the left: words do, and figures do not
        def left?(at)
          align = columns[at].align
          cells = full_rows.filter_map { |row| row[at] }
          figures = cells.grep(Hash)
          figures = cells.grep(Numeric) unless figures.any? && figures.none? { |cell| cell["low"] }
          align ? align == "left" : at.zero? || (cells.any? && figures.empty?)
        end

        # @return [Array<Array>] without those that end in words
        def full_rows = rows.select { |row| row.size == columns.size }
      end

      # An axis. scale: "linear", "log" or "percentile" (of a share from 0 to 1: 0.9, 0.99, 0.999 lie equally far
      # apart); format: of its numbers, see Reports::Cells.
      Axis = Struct.new(:title, :scale, :format, keyword_init: true) do
        # @param given [Axis, Hash]
        # @return [Axis]
        def self.build(given) = new(scale: "linear", **given.to_h.transform_keys(&:to_sym))
      end

      # Lines through points. Series are `{ "label" =>, "points" => [[x, y], …] }`.
      Curves = Struct.new(:title, :sentence, :x, :y, :series, keyword_init: true) do
        include Block

        # @param x [Axis, Hash]
        # @param y [Axis, Hash]
        # @return [Curves]
        def self.build(x:, y:, series:, **words)
          new(**words, x: Axis.build(x), y: Axis.build(y), series: series.map { |line| line.transform_keys(&:to_s) })
        end

        # @return [Hash]
        def to_h = super.merge(x: x.to_h, y: y.to_h)

        # @return [Table] a row for each x, a column for each series
        def data
          columns = series.map { |line| { title: line["label"], format: y.format } }
          points = series.map { |line| line["points"].to_h }
          rows = points.flat_map(&:keys).uniq.sort.map { |at| [at, *points.map { |line| line[at] }] }
          Table.build(columns: [{ title: x.title, format: x.format }, *columns], caption: y.title, rows: rows)
        end
      end

      # Sentences, each by itself. items: Array of Strings.
      List = Struct.new(:items, keyword_init: true) { include Block }

      # A paragraph.
      Prose = Struct.new(:text, keyword_init: true) { include Block }

      # Something to paste. language: "ruby", "yaml", "sh".
      Code = Struct.new(:text, :language, keyword_init: true) { include Block }
    end
  end
end
