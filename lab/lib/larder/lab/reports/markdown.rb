# frozen_string_literal: true

require_relative "cells"

module Larder
  module Lab
    module Reports
      # A document as Markdown, for an issue or a pull request. Charts are their sentences and their figures.
      class Markdown
        # @param document [Document]
        def initialize(document)
          @document = document
        end

        # @return [String]
        def to_s
          answer = @document.answer
          first = ["## #{Document::QUESTION}", list(answer.lines), *(block(answer.chart) if answer.chart)] if answer
          parts = [*first, *@document.chapters.flat_map { |chapter| chapter(chapter) }, environment]
          "#{parts.reject { |part| part.to_s.empty? }.join("\n\n")}\n"
        end

        private

        def chapter(chapter)
          ["## #{text(chapter.title)}", text(chapter.lead), text(chapter.facts.join(", ")), list(chapter.conclusions),
           *(["**Warnings**", list(chapter.warnings)] if chapter.warnings.any?),
           *chapter.reading_order.flat_map do |section|
             ["### #{text(section.title)}", *section.blocks.flat_map { |each| block(each) }]
           end]
        end

        def block(block)
          case block.kind
          when "table" then table(block)
          when "list" then list(block.items)
          when "prose" then text(block.text)
          when "code" then "```#{block.language}\n#{block.text.chomp}\n```"
          else [text(block.sentence), *table(block.data)]
          end
        end

        def table(table)
          columns = table.columns
          rule = columns.each_index.map { |at| table.left?(at) ? "---" : "--:" }
          rows = table.rows.map do |row|
            columns.each_with_index.map { |column, at| at < row.size ? Cells.text(row[at], column.format) : "" }
          end
          lines = [columns.map(&:title), rule, *rows].map { |row| "| #{row.map { |cell| text(cell) }.join(" | ")} |" }
          [text(table.caption), lines.join("\n"), *table.notes.map { |note| text(note) }]
        end

        def list(items)
          items.map { |item| "- #{text(item)}" }.join("\n")
        end

        # Escapes what has a meaning in Markdown.
        def text(text)
          text.to_s.gsub(/[\\`*_<>\[\]|]/) { |character| "\\#{character}" }.gsub(/\s*\n\s*/, " ")
        end

        def environment
          facts = @document.environment
          machine = [facts["ruby"], facts["yjit"] && "YJIT #{facts["yjit"]}", facts["cpu"],
                     facts["cores"] && "#{facts["cores"]} cores", facts["kernel"], facts["time"]].compact
          "#{text(machine.join(", "))}; larder-lab #{@document.version}, #{@document.elapsed.round} s; " \
            "`#{@document.line}`"
        end
      end
    end
  end
end
