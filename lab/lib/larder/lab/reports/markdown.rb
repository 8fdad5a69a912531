# frozen_string_literal: true

require_relative "cells"

module Larder
  module Lab
    module Reports
      # A document as Markdown, for an issue or a pull request. Charts are their sentences and their figures.
      class Markdown
        Reports.register("markdown", self)

        # @param document [Document]
        def initialize(document, **)
          @document = document
        end

        # @return [String]
        def to_s
          "#{[*answer, *@document.chapters.map { |chapter| chapter(chapter) }, environment].join("\n\n")}\n"
        end

        private

        def answer
          found = @document.answer or return
          ["## #{escaped(Document::QUESTION)}", list(found.lines), *(block_text(found.chart, false) if found.chart)]
        end

        def chapter(chapter)
          parts = ["## #{escaped(chapter.title)}", chapter.lead && escaped(chapter.lead),
                   escaped(chapter.facts.join(", ")), list(chapter.conclusions)]
          parts.push("**Warnings**", list(chapter.warnings)) if chapter.warnings.any?
          chapter.reading_order.each { |section| parts.push("### #{escaped(section.title)}", *blocks(section.blocks)) }
          parts.compact.reject(&:empty?).join("\n\n")
        end

        def blocks(blocks)
          tabled = blocks.any? { |block| block.kind == "table" }
          blocks.map { |block| block_text(block, tabled) }
        end

        def block_text(block, tabled)
          case block.kind
          when "table" then table(block)
          when "list" then list(block.items)
          when "prose" then escaped(block.text)
          when "code" then "```#{block.language}\n#{block.text.chomp}\n```"
          else [escaped(block.sentence.to_s), (table(block.data) unless tabled)].compact.join("\n\n")
          end
        end

        def list(items)
          items.map { |item| "- #{escaped(item)}" }.join("\n")
        end

        def table(block)
          heading = block.columns.map { |column| escaped(column.title.to_s) }
          rule = block.columns.map { |column| column.left? ? "---" : "--:" }
          rows = block.rows.map { |row| block.columns.each_index.map { |at| cell(block, row, at) } }
          lines = [heading, rule, *rows].map { |cells| "| #{cells.join(" | ")} |" }
          notes = block.notes.map { |note| escaped(note) }
          [block.caption && escaped(block.caption), lines.join("\n"), *notes].compact.join("\n\n")
        end

        def cell(block, row, at)
          return "" if at >= row.size

          escaped(Cells.text(row[at], block.columns[at].format))
        end

        # What Markdown would take for its own.
        def escaped(text)
          text.gsub(/[\\`*_<>\[\]|]/) { |character| "\\#{character}" }.gsub(/\s*\n\s*/, " ")
        end

        def environment
          facts = @document.environment
          machine = [facts["ruby"], facts["yjit"] && "YJIT #{facts["yjit"]}", facts["cpu"],
                     facts["cores"] && "#{facts["cores"]} cores", facts["kernel"], facts["time"]].compact
          "#{escaped(machine.join(", "))}; larder-lab #{@document.version}, #{@document.elapsed.round} s; " \
            "`#{@document.line}`"
        end
      end
    end
  end
end
