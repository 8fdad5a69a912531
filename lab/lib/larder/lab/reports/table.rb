# frozen_string_literal: true

module Larder
  module Lab
    module Reports
      # Aligns cells into columns. A row may have fewer cells than the table: its last one then runs to the right edge.
      class Table
        GAP = "  "
        # Ends what had to be cut.
        CUT = "…"

        # @param alignments [Array<Symbol>] :left or :right, one for each column
        def initialize(*alignments)
          @alignments = alignments
          @rows = []
          @groups = nil
        end

        # Headings over the columns that follow the first, each over as many.
        # @param titles [Array<String>]
        # @return [self]
        def groups(*titles)
          @groups = titles
          self
        end

        # @param cells [Array<String>]
        # @return [self]
        def row(*cells)
          @rows << cells.map(&:to_s)
          self
        end

        # @param width [Integer, nil] columns there is room for; only running cells are cut to it
        # @return [Array<String>] lines without trailing blanks
        def lines(width:)
          lines = @rows.map { |cells| line(cells, width).rstrip }
          @groups ? [group_line.rstrip, *lines] : lines
        end

        private

        def line(cells, width)
          return padded(cells) if cells.size == @alignments.size

          text = [*padded(cells[0..-2]), cells.last].join(GAP)
          width && text.size > width ? "#{text[0, width - 1]}#{CUT}" : text
        end

        def padded(cells)
          cells.each_with_index.map { |cell, column| pad(cell, widths[column], @alignments[column]) }.join(GAP)
        end

        def pad(cell, width, alignment)
          alignment == :right ? cell.rjust(width) : cell.ljust(width)
        end

        # The first column of a group is right-aligned as a rule, so a heading ends where the group does.
        def group_line
          span = group_span
          [" " * widths.first, *@groups.each_with_index.map do |title, group|
            columns = widths[1 + (group * span), span]
            title.center(columns.sum + (GAP.size * (span - 1)))
          end].join(GAP)
        end

        def group_span
          (@alignments.size - 1) / @groups.size
        end

        def widths
          @widths ||= begin
            full = @rows.select { |cells| cells.size == @alignments.size }
            widths = @alignments.each_index.map { |column| full.map { |cells| cells[column].size }.max || 0 }
            widths[0] = @rows.map { |cells| cells.first.size }.max || 0
            make_room(widths)
          end
        end

        # A heading longer than its columns widens the last of them.
        def make_room(widths)
          (@groups || []).each_with_index do |title, group|
            span = group_span
            taken = widths[1 + (group * span), span].sum + (GAP.size * (span - 1))
            widths[(group + 1) * span] += [title.size - taken, 0].max
          end
          widths
        end
      end
    end
  end
end
