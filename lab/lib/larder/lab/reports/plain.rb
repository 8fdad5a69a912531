# frozen_string_literal: true

require_relative "cells"
require_relative "prose"
require_relative "table"

module Larder
  module Lab
    module Reports
      # A document for the terminal: the answer, then what was found in each chapter, then its tables, which fit the
      # width. Charts are their sentences, with their figures where no table stands beside them.
      class Plain
        include Prose

        Reports.register("plain", self)

        # @param document [Document]
        # @param terminal [Terminal]
        def initialize(document, terminal:)
          @document = document
          @terminal = terminal
          @room = room_of(terminal)
        end

        # @return [String]
        def to_s
          "#{[*answer, *@document.chapters.map { |chapter| chapter(chapter) }, environment].compact.join("\n\n")}\n"
        end

        private

        # With the warnings that touch it.
        def answer
          found = @document.answer or return
          lines = found.lines.flat_map { |line| ["", *wrap(line)] }.drop(1)
          lines += ["", *block_lines(found.chart, false)] if found.chart
          [section(Document::QUESTION, lines), section("Warnings", items(@document.answering.warnings))].compact
        end

        def chapter(chapter)
          warnings = chapter.equal?(@document.answering) ? [] : chapter.warnings
          [head(chapter), section("Findings", items(chapter.conclusions)), section("Warnings", items(warnings)),
           *chapter.scrolling_order.map { |each| section(each.title, blocks(each.blocks)) }].compact.join("\n\n")
        end

        def head(chapter)
          lines = [chapter.lead, chapter.facts.join(", ")].compact.reject(&:empty?).flat_map { |text| wrap(text) }
          [@terminal.paint(chapter.title, :bold), *indent(lines)].join("\n")
        end

        def blocks(blocks)
          tabled = blocks.any? { |block| block.kind == "table" }
          blocks.flat_map { |block| ["", *block_lines(block, tabled)] }.drop(1)
        end

        def block_lines(block, tabled)
          case block.kind
          when "table" then table(block)
          when "list" then items(block.items)
          when "prose" then wrap(block.text)
          when "code" then block.text.lines.map(&:chomp)
          else [*wrap(block.sentence.to_s), *(["", *table(block.data)] unless tabled)]
          end
        end

        def table(block)
          caption = block.caption ? wrap(block.caption) : []
          [*caption, *folded(block), *block.notes.flat_map { |note| wrap(note) }]
        end

        # What is too wide even without optional columns becomes several tables, each with the first column.
        def folded(block)
          lines = fitting(block)
          grouped = block.columns.any?(&:group)
          return headed(lines, grouped ? 2 : 1) if grouped || fit?(lines)

          folds(block).flat_map { |columns| ["", *headed(set(block, columns), 1)] }.drop(1)
        end

        def headed(lines, headings)
          [*lines.first(headings).map { |line| @terminal.paint(line, :dim) }, *lines.drop(headings)]
        end

        def folds(block)
          block.columns.each_index.drop(1).each_with_object([]) do |at, folds|
            wider = [*folds.last, at]
            folds.any? && fit?(set(block, wider)) ? folds[-1] = wider : folds << [0, at]
          end
        end

        def fit?(lines)
          lines.all? { |line| line.size <= @room }
        end

        # Leaves out columns that one can do without until the rest fits.
        def fitting(block)
          columns = block.columns.each_index.to_a
          loop do
            lines = set(block, columns)
            rank = columns.map { |at| block.columns[at].optional.to_i }.max
            return lines if rank.zero? || fit?(lines)

            columns = columns.reject { |at| block.columns[at].optional.to_i == rank }
          end
        end

        def set(block, columns)
          table = Table.new(*columns.map { |at| block.columns[at].left? ? :left : :right })
          groups = columns.filter_map { |at| block.columns[at].group }.uniq
          table.groups(*groups) if groups.any?
          table.row(*columns.map { |at| block.columns[at].title.to_s })
          block.rows.each do |row|
            shown = row.size < block.columns.size ? row : columns.map { |at| row[at] }
            table.row(*shown.each_with_index.map { |cell, at| Cells.text(cell, format_of(block, row, columns, at)) })
          end
          table.lines(width: @room)
        end

        def format_of(block, row, columns, at)
          block.columns[row.size < block.columns.size ? at : columns[at]].format
        end

        def environment
          facts = @document.environment
          return if facts.empty?

          machine = [facts["cpu"], facts["cores"] && "#{facts["cores"]} cores",
                     facts["memory_bytes"] && Figures.bytes(facts["memory_bytes"]), facts["kernel"],
                     facts["file_system"]]
          ruby = [facts["ruby"], facts["yjit"] && "YJIT #{facts["yjit"]}"].compact.join(", ")
          section("Environment", items([@document.line, ruby, machine.compact.join(", "), versions(facts)].compact))
        end

        def versions(facts)
          facts["versions"]&.map { |name, version| "#{name} #{version}" }&.join(", ")
        end
      end
    end
  end
end
