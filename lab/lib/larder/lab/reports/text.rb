# frozen_string_literal: true

require_relative "cells"
require_relative "text_table"

module Larder
  module Lab
    module Reports
      # A document for the terminal: the answer, then what was found in each chapter, then its tables, which fit the
      # width. Charts are their sentences, with their figures where no table stands next to them.
      class Text
        # Columns before what is under a title.
        INDENT = 2
        private_constant :INDENT

        # @param document [Document]
        # @param terminal [Terminal]
        def initialize(document, terminal:)
          @document = document
          @terminal = terminal
          @room = terminal.width - INDENT
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
          lines = [*found.lines.map { |line| wrap(line) }, *(block(found.chart) if found.chart)]
          [section(Document::QUESTION, apart(lines)), section("Warnings", items(@document.answering.warnings))]
        end

        def chapter(chapter)
          warnings = chapter.equal?(@document.answering) ? [] : chapter.warnings
          about = [chapter.lead, chapter.facts.join(", ")].flat_map { |text| wrap(text.to_s) }
          [[*heading(chapter.title), *indent(about)].join("\n"),
           section("Findings", items(chapter.conclusions)), section("Warnings", items(warnings)),
           *chapter.scrolling_order.map do |each|
             tabled = each.blocks.any? { |block| block.kind == "table" }
             section(each.title, apart(each.blocks.flat_map { |block| block(block, tabled) }))
           end]
        end

        # @return [Array<Array<String>>] parts of a section
        def block(block, tabled = false)
          case block.kind
          when "table" then [table(block)]
          when "list" then [items(block.items)]
          when "prose" then [wrap(block.text)]
          when "code" then [block.text.lines(chomp: true)]
          else [wrap(block.sentence.to_s), *([table(block.data)] unless tabled)]
          end
        end

        def table(block)
          lines = TextTable.new(block, @room).lines.map do |line|
            line.heading ? @terminal.paint(line.text, :dim) : line.text
          end
          [*wrap(block.caption.to_s), *lines, *block.notes.flat_map { |note| wrap(note) }]
        end

        # A title with its lines under it, or nil without lines.
        def section(title, lines)
          [*heading(title), *indent(lines)].join("\n") if lines.any?
        end

        def heading(title)
          wrap(title).map { |line| @terminal.paint(line, :bold) }
        end

        def items(sentences)
          sentences.flat_map do |sentence|
            first, *rest = wrap(sentence, @room - 2)
            ["- #{first}", *indent(rest)]
          end
        end

        # Parts with an empty line between them.
        def apart(parts)
          parts.flat_map { |lines| ["", *lines] }.drop(1)
        end

        def indent(lines)
          lines.map { |line| line.empty? ? line : "#{" " * INDENT}#{line}" }
        end

        # Lines of whole words; a word longer than a line keeps one for itself.
        def wrap(text, room = @room)
          text.scan(/\S.{0,#{room - 1}}(?=\s|\z)|\S+/)
        end

        def environment
          facts = @document.environment
          bytes = facts["memory_bytes"]
          machine = [facts["cpu"], facts["cores"] && "#{facts["cores"]} cores", bytes && Figures.bytes(bytes),
                     *facts.values_at("kernel", "file_system")]
          ruby = [facts["ruby"], facts["yjit"] && "YJIT #{facts["yjit"]}"]
          versions = facts["versions"].to_h.map { |name, version| "#{name} #{version}" }
          lists = [ruby, machine, versions].map { |list| list.compact.join(", ") }.reject(&:empty?)
          section("Environment", items([@document.line, *lists])) if facts.any?
        end
      end
    end
  end
end
