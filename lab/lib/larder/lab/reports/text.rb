# frozen_string_literal: true

require_relative "figures"
require_relative "text_table"

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
          [part(Document::QUESTION, list(found.lines), *(block(found.chart) if found.chart), level: 2),
           section("Warnings", list(@document.answering.warnings))]
        end

        def chapter(chapter)
          warnings = chapter.equal?(@document.answering) ? [] : chapter.warnings
          [part(chapter.title, paragraph(chapter.lead), paragraph(chapter.facts.join(", ")), level: 2),
           section("Findings", list(chapter.conclusions)), section("Warnings", list(warnings)),
           *order(chapter).map do |each|
             section(each.title, *each.blocks.flat_map { |block| block(block) })
           end]
        end

        def order(chapter) = chapter.scrolling_order

        # Nil without contents.
        def section(title, *contents)
          part(title, *contents) if contents.any?(&:any?)
        end

        # @return [Array<Array<String>>] lines of each part
        def block(block)
          case block.kind
          when "table"
            [[*paragraph(block.caption), *table(block), *block.notes.flat_map { |note| paragraph(note) }]]
          when "list" then [list(block.items)]
          when "prose" then [paragraph(block.text)]
          when "code" then [code(block)]
          else [paragraph(block.sentence)]
          end
        end

        # A title with what is under it; `contents` are the lines of each part.
        def part(title, *contents, **)
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

        def code(block) = block.text.lines(chomp: true)

        # Lines of whole words; a word longer than a line keeps one for itself.
        def paragraph(text, indent = 0)
          text.to_s.scan(/\S.{0,#{@terminal.width - INDENT - indent - 1}}(?=\s|\z)|\S+/)
        end

        def indent(lines) = lines.map { |line| line.empty? ? line : "#{" " * INDENT}#{line}" }

        def environment
          facts = @document.environment
          bytes = facts["memory_bytes"]
          machine = [facts["cpu"], facts["cores"] && "#{facts["cores"]} cores", bytes && Figures.bytes(bytes),
                     *facts.values_at("kernel", "file_system")]
          ruby = [facts["ruby"], facts["yjit"] && "YJIT #{facts["yjit"]}"]
          versions = facts["versions"].to_h.map { |name, version| "#{name} #{version}" }
          lists = [ruby, machine, versions].map { |list| list.compact.join(", ") }.reject(&:empty?)
          section("Environment", list([@document.line, *lists])) if facts.any?
        end
      end
    end
  end
end
