# frozen_string_literal: true

require_relative "figures"

module Larder
  module Lab
    module Reports
      # A document for the terminal: the answer, then what was found in each chapter, then its tables, which fit the
      # width. Charts of lines are their sentences, because a table of figures stands next to them.
      class Text
        # Columns before what is under a title.
        INDENT = 2
        private_constant :INDENT

        # @param document [Document]
        # @param terminal [Terminal]
        def initialize(document, terminal: nil)
          @document = document
          @terminal = terminal
        end

        # @return [String]
        def to_s
          parts = [*answer, *@document.chapters.flat_map { |chapter| chapter(chapter) }, environment]
          "#{parts.compact.join("\n\n")}\n"
        end

        private

        # With the warnings that touch it.
        def answer
          found = @document.answer or return
          [part(Document::QUESTION, list(found.lines), *([block(found.chart)] if found.chart)),
           section("Warnings", list(@document.answering.warnings))]
        end

        # The first section is the last, on the screen when the run has ended.
        def chapter(chapter)
          folded, open = chapter.sections.partition(&:folded)
          warnings = chapter.equal?(@document.answering) ? [] : chapter.warnings
          [part(chapter.title, paragraph(chapter.lead), paragraph(chapter.facts.join(", "))),
           section("Findings", list(chapter.conclusions)), section("Warnings", list(warnings)),
           *[*folded, *open.reverse].map { |each| section(each.title, *each.blocks.map { |block| block(block) }) }]
        end

        # Nil without contents.
        def section(title, *contents)
          part(title, *contents) if contents.any?(&:any?)
        end

        # @return [Array<String>] lines
        def block(block)
          case block.kind
          when "table"
            [*paragraph(block.caption), *table(block), *block.notes.flat_map { |note| paragraph(note) }]
          when "list" then list(block.items)
          when "prose" then paragraph(block.text)
          when "code" then block.text.lines(chomp: true)
          else paragraph(block.sentence)
          end
        end

        # A title with what is under it; `contents` are the lines of each part.
        def part(title, *contents)
          lines = contents.reject(&:empty?).flat_map { |part| ["", *part] }.drop(1)
          [*paragraph(title).map { |line| @terminal.paint(line, :bold) }, *indent(lines)].join("\n")
        end

        def table(block)
          TextTable.new(block, @terminal.width - INDENT).lines { |heading| @terminal.paint(heading, :dim) }
        end

        def list(sentences)
          sentences.flat_map do |sentence|
            first, *rest = paragraph(sentence, 2)
            ["- #{first}", *indent(rest)]
          end
        end

        # Lines of whole words; a word longer than a line keeps one for itself.
        def paragraph(text, indent = 0)
          text.to_s.gsub(Figures::UNIT, "\u00A0").scan(/\S.{0,#{@terminal.width - INDENT - indent - 1}}(?=\s|\z)|\S+/)
              .map { |line| line.tr("\u00A0", " ") }
        end

        def indent(lines) = lines.map { |line| line.empty? ? line : "#{" " * INDENT}#{line}" }

        def environment
          facts = @document.environment
          bytes = facts["memory_bytes"]
          ruby = [facts["ruby"], facts["yjit"] && "YJIT #{facts["yjit"]}"].compact.join(", ")
          machine = @document.machine(bytes && Figures.bytes(bytes), *facts.values_at("kernel", "file_system"))
          section("Environment", list([@document.command_line, ruby, machine].reject(&:empty?))) if facts.any?
        end
      end

      # A {Document::Table} in columns of characters. If it is too wide, it goes on below, and repeats the columns that
      # tell its rows apart.
      class TextTable
        GAP = "  "
        # Ends what had to be cut.
        CUT = "…"
        private_constant :GAP, :CUT

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
          names, others = @table.columns.each_index.partition { |at| at < names_of_rows }
          others.each_with_object([names]) do |at, parts|
            wider = [*parts.last, at]
            length(wider) <= @room || parts.last == names ? parts[-1] = wider : parts << [*names, at]
          end
        end

        # How many columns of words begin the table, or one if no more than one of them tells its rows apart.
        def names_of_rows
          @names_of_rows ||= begin
            firsts = @cells.map(&:first)
            words = @table.columns.each_index.take_while { |at| @table.left?(at) }.size
            firsts.uniq.size < firsts.size && words < @table.columns.size ? words : 1
          end
        end

        def length(columns) = widths.values_at(*columns).sum + (GAP.size * (columns.size - 1))

        def headings(columns)
          titles = columns.map { |at| @table.columns[at].title.to_s }
          groups = group_line(columns) if @table.columns.any?(&:group)
          [*groups, line(columns, titles)]
        end

        def group_line(columns)
          runs(columns).map { |run| group(run.first)[0, length(run)].center(length(run)) }.join(GAP).rstrip
        end

        def runs(columns) = columns.chunk_while { |one, other| group(one) == group(other) }

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
          return @widths if @widths

          @widths = @table.columns.each_with_index.map do |column, at|
            cells = @cells.select { |row| at.zero? || row.size == @table.columns.size }
            [column.title.to_s.size, *cells.map { |row| row[at].size }].max
          end
          runs(@table.columns.each_index).each do |run|
            @widths[run.last] += [group(run.first).size - length(run), 0].max
          end
          @widths
        end
      end
    end
  end
end
