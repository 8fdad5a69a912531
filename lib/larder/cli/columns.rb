# frozen_string_literal: true

# Lays a table out: names, and columns of figures that are right-aligned.

require_relative "inspection"

module Larder
  module CLI
    # A table whose names take the columns of the terminal that its figures leave.
    class Columns
      # Figures of all rows, nil for none. `gap`: spaces before it; `extra`: 0 if it is always shown, otherwise the
      # columns with the greatest number are left out first where names lack room.
      Column = Struct.new(:head, :cells, :gap, :extra) do
        # @return [Integer]
        def width
          @width ||= [head, *cells].compact.map { |cell| Brief.columns(cell) }.max
        end

        # @return [String] a cell, right-aligned
        def text(cell)
          (" " * (gap + width - Brief.columns(cell.to_s))) + cell.to_s
        end
      end
      # Columns that names have at least, if they are that long, before figures are left out.
      NAMES = 16
      # Columns that names have in any case.
      LEAST = 8
      INDENT = 2
      private_constant :NAMES, :LEAST, :INDENT

      # @param head [String] above the names
      # @param names [Array<String>] of printable characters
      def initialize(head, names)
        @head = head
        @names = names
        @columns = []
      end

      # @param head [String]
      # @param cells [Array<String, nil>] one for each name; the column is left out if all are nil
      # @return [self]
      def add(head, cells, gap: 2, extra: 0)
        @columns << Column.new(head, cells, gap, extra) if cells.any?
        self
      end

      # Adds the last column: text that is cut where the terminal ends.
      #
      # @param head [String]
      # @param texts [Array<String, nil>] one for each name, of printable characters
      # @return [self]
      def text(head, texts)
        @texts = [head, *texts]
        self
      end

      # @return [Integer] columns that a terminal needs for all figures
      def least_width
        taken(@columns) + [longest, NAMES].min
      end

      # @param width [Integer] columns of the terminal
      # @return [Array<String>] the heads, and a line for each name
      def lines(width)
        columns = those_for(width)
        room = (width - taken(columns)).clamp([longest, LEAST].min, longest)
        line = lambda do |name, cells|
          (" " * INDENT) + Brief.fitted(name, room) + columns.zip(cells).map { |column, cell| column.text(cell) }.join
        end
        lines = [line[@head, columns.map(&:head)],
                 *@names.each_with_index.map { |name, row| line[name, columns.map { |column| column.cells[row] }] }]
        lines.each_with_index.map { |text, row| (text + last_text(row, width - Brief.columns(text))).rstrip }
      end

      private

      def last_text(row, room)
        text = @texts && @texts[row]
        text && room > 5 ? "  #{Brief.fitted(text, room - 2)}" : ""
      end

      def those_for(width)
        columns = @columns.dup
        while width - taken(columns) < [longest, NAMES].min && columns.any? { |column| column.extra.positive? }
          columns.delete_at(columns.each_index.max_by { |index| columns[index].extra })
        end
        columns
      end

      def taken(columns)
        INDENT + columns.sum { |column| column.gap + column.width }
      end

      def longest
        @longest ||= [@head, *@names].map { |name| Brief.columns(name) }.max
      end
    end
  end
end
