# frozen_string_literal: true

# Sets a report as text: sections, lists, and lines of whole words.

module Larder
  module Lab
    module Reports
      # For classes with a `@terminal`, and in `@room` the columns of a line.
      module Prose
        # Columns before what is under a title.
        INDENT = 2

        private

        def room_of(terminal)
          terminal.width - INDENT
        end

        # A title with its lines under it, or nil without lines.
        def section(title, lines)
          return if lines.empty?

          [*wrap(title).map { |line| @terminal.paint(line, :bold) }, *indent(lines)].join("\n")
        end

        def items(sentences)
          sentences.flat_map do |sentence|
            first, *rest = wrap(sentence, room: @room - 2)
            ["- #{first}", *indent(rest)]
          end
        end

        def indent(lines)
          lines.map { |line| line.empty? ? line : "#{" " * INDENT}#{line}" }
        end

        # Lines of whole words; a word longer than a line keeps one for itself.
        def wrap(text, room: @room)
          text.scan(/\S.{0,#{room - 1}}(?=\s|\z)|\S+/)
        end
      end
    end
  end
end
