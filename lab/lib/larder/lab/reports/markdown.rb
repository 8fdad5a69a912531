# frozen_string_literal: true

require_relative "text"

module Larder
  module Lab
    module Reports
      # A document as Markdown, for an issue or a pull request: the text for the terminal with other marks.
      class Markdown < Text
        private

        def order(chapter) = chapter.reading_order

        def part(title, *contents, level: 3)
          ["#{"#" * level} #{escaped(title)}", *contents.reject(&:empty?).map { |lines| lines.join("\n") }].join("\n\n")
        end

        def table(block)
          columns = block.columns
          rule = columns.each_index.map { |at| block.left?(at) ? "---" : "--:" }
          rows = block.rows.map do |row|
            columns.each_with_index.map { |column, at| at < row.size ? Figures.text(row[at], column.format) : "" }
          end
          lines = [columns.map(&:title), rule, *rows].map { |row| row.map { |cell| escaped(cell) }.join(" | ") }
          ["", *lines.map { |line| "| #{line} |" }, ""]
        end

        def list(sentences) = sentences.map { |sentence| "- #{escaped(sentence)}" }

        def code(block) = ["```#{block.language}", block.text.chomp, "```"]

        def paragraph(text) = [escaped(text)].reject(&:empty?)

        # Escapes what has a meaning in Markdown.
        def escaped(text) = text.to_s.gsub(/[\\`*_<>\[\]|]/) { |character| "\\#{character}" }.gsub(/\s*\n\s*/, " ")
      end
    end
  end
end
