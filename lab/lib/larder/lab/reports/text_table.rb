# frozen_string_literal: true

require_relative "figures"

module Larder
  module Lab
    module Reports
      # A {Document::Table} in columns of characters. If it is too wide, it first goes without its optional columns, and
      # then on below, with its first column again.
      class TextTable
        GAP = "  "
        # Ends what had to be cut.
        CUT = "…"
        private_constant :GAP, :CUT

        # @param table [Document::Table]
        # @param room [Integer] characters of a line
        def initialize(table, room)
          @table = table
          @room = room
          @cells = table.rows.map do |row|
            row.each_with_index.map { |cell, at| Figures.text(cell, table.columns[at].format) }
          end
        end

        # @yieldparam heading [String] a line
        # @yieldreturn [String] how it is shown
        # @return [Array<String>] no wider than the room, without trailing blanks
        def lines(&shown)
          parts.map { |columns| [*headings(columns).map(&shown), *body(columns)] }
               .inject { |one, other| [*one, "", *other] }
        end

        private

        # Sets of columns that fit.
        def parts
          columns = @table.columns.each_index.to_a
          until fit?(columns) || (rank = columns.map { |at| optional(at) }.max).zero?
            columns = columns.reject { |at| optional(at) == rank }
          end
          fit?(columns) || columns.one? ? [columns] : folded(columns)
        end

        def folded(columns)
          columns.drop(1).each_with_object([]) do |at, parts|
            wider = [*parts.last, at]
            parts.any? && fit?(wider) ? parts[-1] = wider : parts << [columns.first, at]
          end
        end

        def optional(at) = @table.columns[at].optional.to_i

        def fit?(columns) = length(columns) <= @room

        def length(columns) = widths.values_at(*columns).sum + (GAP.size * (columns.size - 1))

        def headings(columns)
          titles = columns.map { |at| @table.columns[at].title.to_s }
          groups = group_line(columns) if @table.columns.any?(&:group)
          [*groups, line(columns, titles)]
        end

        def group_line(columns)
          runs = columns.chunk_while { |one, other| group(one) == group(other) }
          runs.map { |run| group(run.first)[0, length(run)].center(length(run)) }.join(GAP).rstrip
        end

        def group(at) = @table.columns[at].group.to_s

        def body(columns)
          @cells.map do |cells|
            full = cells.size == @table.columns.size
            full ? line(columns, cells.values_at(*columns)) : running(cells)
          end
        end

        def line(columns, cells) = columns.zip(cells).map { |at, cell| padded(cell, at) }.join(GAP).rstrip

        # The last cell goes on to the edge.
        def running(cells)
          *first, last = cells
          text = [*first.each_with_index.map { |cell, at| padded(cell, at) }, last].join(GAP)
          text.size > @room ? "#{text[0, @room - 1]}#{CUT}" : text
        end

        def padded(cell, at) = @table.left?(at) ? cell.ljust(widths[at]) : cell.rjust(widths[at])

        def widths
          @widths ||= @table.columns.each_with_index.map do |column, at|
            cells = @cells.select { |row| at.zero? || row.size == @table.columns.size }
            [column.title.to_s.size, *cells.map { |row| row[at].size }].max
          end
        end
      end
    end
  end
end
