# frozen_string_literal: true

module Larder
  module Lab
    module Reports
      class Html
        # A {Document::Table} as HTML. On a telephone the style sheet makes a card of each row.
        class Table
          include Markup

          # @param label [String] its name, where it has no caption
          def initialize(table, label:)
            @table = table
            @label = label
            @plots = table.columns.each_with_index.map do |column, at|
              Plot.new(column, table.full_rows.map { |row| row[at] }) if column.plot && table.full_rows.any?
            end
          end

          # @return [Markup::Raw] in a box that scrolls by itself where the screen is narrower, also by keys
          def to_html
            caption = @table.caption.to_s
            table = tag(:table, *(tag(:caption, words(caption)) unless caption.empty?), tag(:thead, groups, titles),
                       tag(:tbody, @table.rows.map { |row| row(row) }), *foot, style: "--range: #{range_width}ch",
                       class: ("plotted" if @plots.any?))
            join(tag(:div, table, class: "scroll", tabindex: 0, role: "region",
                                 aria_label: caption.empty? ? @label : caption),
                 @table.notes.map { |note| tag(:p, words(note), class: "aside") })
          end

          private

          # Headings over neighbours.
          def groups
            return if @table.columns.none?(&:group)

            runs = @table.columns.chunk_while { |one, other| one.group == other.group }
            tag(:tr, runs.map { |run| heading(run.first.group, colspan: run.size, scope: "colgroup", class: "group") })
          end

          def titles
            cells = @table.columns.each_with_index.map do |column, at|
              heading(column.title, class: kind(at), scope: "col", colspan: (2 if @plots[at]))
            end
            tag(:tr, cells)
          end

          # A heading without words names nothing.
          def heading(title, scope:, **attributes)
            title.to_s.empty? ? tag(:td, nil, **attributes) : tag(:th, words(title), scope: scope, **attributes)
          end

          def row(cells)
            full = cells.size == @table.columns.size
            set = cells.each_with_index.map do |cell, at|
              if at.zero? then tag(:th, shown(cell, at), scope: "row")
              elsif full || at < cells.size - 1 then figure(cell, at)
              else tag(:td, shown(cell, at), class: "rest", colspan: (@table.columns.size - at) + @plots.compact.size)
              end
            end
            tag(:tr, set, class: ("own" if own?(cells)))
          end

          def own?(cells) = Html.ours?(cells.first) || cells.grep(/\Alarder(?: \(.+\))?\z/i).any?

          # A card has the heading of its column in front of each figure.
          def figure(cell, at)
            column = @table.columns[at]
            label = [column.group, column.title].map(&:to_s).reject(&:empty?).uniq.join(", ")
            join(*@plots[at]&.to_html(cell),
                 tag(:td, shown(cell, at), *(range(cell, at) if ranged?(at)),
                     class: kind(at, cell), data_label: (label unless label.empty?)))
          end

          # The axes of drawings.
          def foot
            return if @plots.none?

            tag(:tfoot, tag(:tr, @plots.map { |plot| join(*plot&.axis, tag(:td, nil)) }))
          end

          def shown(cell, at) = words(Figures.text(cell.is_a?(Hash) ? cell["value"] : cell, @table.columns[at].format))

          # All ranges of a table have one width, so that values end and intervals begin in one line.
          def range(cell, at)
            return tag(:span, nil, class: "range") unless cell.is_a?(Hash)

            ends = %w[low high].filter_map { |name| cell[name] }
            low, high = ends.map { |each| Figures.text(each, @table.columns[at].format) }
            same = tag(:abbr, Figures::SAME, title: Bench::Verdict::EXPLAINED) if cell["same"]
            tag(:span, (" (#{Figures.range(low, high)})" if high), (" " if same), same, class: "range")
          end

          def range_width
            cells = @table.rows.flat_map { |row| row.zip(@table.columns) }.select { |cell, _| cell.is_a?(Hash) }
            cells.map { |cell, column| Figures.text(cell, column.format)[/ [(#{Figures::SAME}].*/o].to_s.size }.max.to_i
          end

          # The first column of a group keeps a distance from the group before.
          def kind(at, cell = nil)
            group, before = [at, at - 1].map { |column| @table.columns[column].group }
            names = [(Html.tone(cell["verdict"]) if cell.is_a?(Hash)), ("text" if @table.words?(at)),
                     ("first" if group && group != before)].compact
            names.join(" ") if names.any?
          end

          def ranged?(at) = hashes(at).any? { |cell| cell["low"] || cell["same"] }

          def hashes(at) = @table.full_rows.map { |row| row[at] }.grep(Hash)
        end
      end
    end
  end
end
