# frozen_string_literal: true

require_relative "../cells"
require_relative "chart"
require_relative "markup"

module Larder
  module Lab
    module Reports
      class Html
        # A {Document::Table} as HTML. A column with intervals becomes two, so that values end and intervals begin
        # in one line.
        class Tables
          # Cells of text that stand among numbers as if they were some.
          NUMERIC = /\A[<>≈~+\-−]?\d[\d.,]*(?:\S*| [nµm]?s)\z/
          # In a cell that is not the first.
          OURS = /\Alarder(?: \(.+\))?\z/i
          private_constant :NUMERIC, :OURS

          # @param block [Document::Table]
          # @param label [String] what it is, where it has no caption
          def initialize(block, label:)
            @block = block
            @label = label
          end

          # @return [Markup::Raw] in a box that scrolls by itself, also by keys; on a telephone its rows are cards
          def to_html
            notes = @block.notes.map { |note| tag(:p, Markup.words(note), class: "aside") }
            caption = @block.caption.to_s
            name = caption.empty? ? @label : caption
            ranged = @block.columns.each_index.any? { |at| span(at) }
            table = tag(:table, (tag(:caption, Markup.words(caption)) unless caption.empty?), head, body,
                        class: ("ranged" if ranged))
            Markup.join(tag(:div, table, class: "scroll", tabindex: 0, role: "region", aria_label: name), notes)
          end

          private

          def tag(...)
            Markup.tag(...)
          end

          def head
            tag(:thead, (groups if @block.columns.any?(&:group)), titles)
          end

          # Headings over neighbours.
          def groups
            runs = @block.columns.each_index.slice_when do |one, other|
              @block.columns[one].group != @block.columns[other].group
            end
            cells = runs.map do |columns|
              title = @block.columns[columns.first].group.to_s
              width = columns.sum { |at| span(at) || 1 }
              next tag(:td, colspan: width) if title.empty?

              tag(:th, Markup.words(title), scope: "colgroup", colspan: width, class: "group")
            end
            tag(:tr, cells)
          end

          def titles
            cells = @block.columns.each_with_index.map do |column, at|
              title = column.title.to_s
              # A heading without words names nothing.
              next tag(:td, colspan: span(at)) if title.empty?

              tag(:th, Markup.words(title), scope: "col", colspan: span(at), class: class_of(at))
            end
            tag(:tr, cells)
          end

          def body
            tag(:tbody, @block.rows.map { |row| row(row) })
          end

          def row(cells)
            running = cells.size < @block.columns.size ? cells.size - 1 : nil
            set = cells.each_with_index.map do |cell, at|
              next rest(cell, at) if at == running

              at.zero? && cell != "" ? heading(cell) : cell(cell, at)
            end
            # A row without a name belongs to the one above.
            names = [("own" if ours?(cells)), ("more" if cells.first == "")].compact
            tag(:tr, set, class: (names.join(" ") if names.any?))
          end

          def heading(cell)
            tag(:th, Cells.text(cell, @block.columns.first.format), scope: "row")
          end

          def ours?(cells)
            Chart.ours?(cells.first) || cells.any? { |cell| cell.is_a?(String) && cell.match?(OURS) }
          end

          # Why there are no figures: to the edge of the table.
          def rest(cell, from)
            columns = (from...@block.columns.size).sum { |at| span(at) || 1 }
            tag(:td, Markup.words(Cells.text(cell, @block.columns[from].format)), colspan: columns, class: "rest")
          end

          def cell(cell, at)
            format = @block.columns[at].format
            return interval(cell.transform_keys(&:to_s), format, at) if cell.is_a?(Hash)

            text = Markup.words(Cells.text(cell, format))
            return figure(text, at, class: class_of(at, "text"), colspan: span(at)) if wordy?(cell)
            return figure(text, at, class: class_of(at), colspan: span(at)) if left?(at)

            Markup.join(figure(text, at, class: class_of(at)), (tag(:td, class: "range") if span(at)))
          end

          def interval(cell, format, at)
            low, high = cell.values_at("low", "high").map { |value| value && Cells.text(value, format) }
            range = "(#{Cells.range(low, high)})" if low && high
            same = tag(:abbr, Cells::SAME, title: Bench::Verdict::EXPLAINED) if cell["same"]
            names = [class_of(at), tone(cell["verdict"])].compact
            Markup.join(figure(Cells.text(cell["value"], format), at, class: (names.join(" ") if names.any?)),
                        tag(:td, range, (" " if range && same), same, class: "range"))
          end

          # A card has the heading of its column in front of each figure.
          def figure(text, at, **attributes)
            column = @block.columns[at]
            label = [column.group, column.title].map(&:to_s).reject(&:empty?).uniq.join(", ")
            tag(:td, text, **attributes, data_label: (label unless label.empty?))
          end

          def tone(verdict)
            verdict && "tone-#{Bench::Verdict::COLORS.fetch(verdict.to_sym)}"
          end

          # "text" is set to the left, "first" keeps a distance from the group before.
          def class_of(at, kind = ("text" if left?(at)))
            first = at.positive? && @block.columns[at].group && @block.columns[at].group != @block.columns[at - 1].group
            names = [kind, ("first" if first)].compact
            names.join(" ") if names.any?
          end

          # Whether text stands where numbers are expected.
          def wordy?(cell)
            cell.is_a?(String) && !cell.match?(NUMERIC) && cell != Cells::NOTHING
          end

          def left?(at)
            column = @block.columns[at]
            column.align ? column.align == "left" : at.zero? || (column.left? && !numbers?(at))
          end

          def numbers?(at)
            cells(at).any? { |cell| cell.is_a?(Numeric) || cell.is_a?(Hash) }
          end

          # Columns that one with intervals takes, or nil.
          def span(at)
            (@spans ||= {})[at] ||= cells(at).any?(Hash) ? 2 : 1
            @spans[at] == 2 ? 2 : nil
          end

          # What is in a column, but for the words that run to the edge.
          def cells(at)
            @block.rows.filter_map { |row| row[at] unless row.size < @block.columns.size && at == row.size - 1 }
          end
        end
      end
    end
  end
end
