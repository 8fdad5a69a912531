# frozen_string_literal: true

# Estimates the width of text. SVG does not break lines, and the reader's typeface is not known, so the widths are
# those of a wide one.

module Larder
  module Lab
    module Reports
      class Html
        # Guesses widths, and breaks text into lines.
        module Lettering
          # Shares of the type size, for typefaces as wide as Verdana's heirs.
          WIDTHS = { "iljI.,:;'|!()[] " => 0.36, "frt-/\"" => 0.43, "mwMW@%" => 0.95, "0123456789" => 0.62,
                     "ABCDEFGHJKLNOPQRSTUVXYZ≈×µ–" => 0.72 }
                   .flat_map { |letters, share| letters.chars.map { |letter| [letter, share] } }.to_h.freeze
          OTHER = 0.6
          private_constant :WIDTHS, :OTHER

          module_function

          # @param text [String]
          # @param size [Numeric] of the type
          # @return [Float] in the unit of the size
          def width(text, size)
            text.each_char.sum { |letter| WIDTHS.fetch(letter, OTHER) } * size
          end

          # Words longer than a line are broken where it ends; what is beyond the last line ends in "…".
          # @param text [String]
          # @param room [Numeric] width
          # @param size [Numeric]
          # @param lines [Integer] at most
          # @return [Array<String>]
          def wrap(text, room, size, lines:)
            wrapped = fill(text.split.flat_map { |word| pieces(word, room, size) }, room, size)
            return wrapped if wrapped.size <= lines

            [*wrapped.first(lines - 1), cut(wrapped.drop(lines - 1).join(" "), room, size)]
          end

          # @param text [String]
          # @param room [Numeric]
          # @param size [Numeric]
          # @return [String] as much as fits
          def cut(text, room, size)
            return text if width(text, size) <= room

            text = text.chop while text.size > 1 && width("#{text}…", size) > room
            "#{text.rstrip}…"
          end

          # @param words [Array<String>]
          # @return [Array<String>]
          def fill(words, room, size)
            words.each_with_object([]) do |word, lines|
              longer = [*lines.last, word].join(" ")
              lines.any? && width(longer, size) <= room ? lines[-1] = longer : lines << word
            end
          end

          # @param word [String]
          # @return [Array<String>]
          def pieces(word, room, size)
            parts = [+""]
            word.each_char do |letter|
              parts << +"" if !parts.last.empty? && width(parts.last + letter, size) > room
              parts.last << letter
            end
            parts
          end

          private_class_method :fill, :pieces
        end
      end
    end
  end
end
