# frozen_string_literal: true

# The bytes of a value, read from the beginning, with limits on how much of them is shown.

require_relative "../key_text"
require_relative "node"

module Larder
  module Inspection
    module Values
      # There is more than is shown.
      class Cut < StandardError; end

      # The bytes are not what they seem. The message says where.
      class Damaged < StandardError; end

      # Reads numbers and texts. Every part that a reader makes is counted, and so is each level, so any bytes end in a
      # tree of limited size.
      class Input
        # Parts of a value that are shown.
        MOST_PARTS = 1000
        # Levels of nesting.
        MOST_DEPTH = 30
        # Bytes of text that are shown: of a value that is one text, of each text in a value, of all of them.
        LONGEST_ALONE = 4000
        LONGEST = 400
        MOST_TEXT = 40_000
        SIMPLE_NAME = /\A[A-Za-z_]\w*[?!]?\z/
        private_constant :MOST_PARTS, :MOST_DEPTH, :LONGEST_ALONE, :LONGEST, :MOST_TEXT, :SIMPLE_NAME

        # @return [Integer] the number of the next byte
        attr_reader :at

        # @param bytes [String]
        def initialize(bytes)
          @bytes = bytes.b
          @at = 0
          @parts = MOST_PARTS
          @text = MOST_TEXT
          @depth = 0
        end

        # @return [Integer] bytes
        def left
          @bytes.bytesize - @at
        end

        # @raise [Damaged]
        def damaged(reason)
          raise Damaged, "damaged at byte #{@at}: #{reason}"
        end

        # @return [Integer]
        # @raise [Damaged] there is none left
        def byte
          byte = @bytes.getbyte(@at) or damaged("it ends here")
          @at += 1
          byte
        end

        # @return [Integer, nil]
        def peek
          @bytes.getbyte(@at)
        end

        # @param size [Integer]
        # @return [String] binary
        # @raise [Damaged] there are fewer
        def take(size)
          check(size)
          @at += size
          @bytes.byteslice(@at - size, size)
        end

        # @param size [Integer] of a text
        # @return [String] its beginning, as much of it as is shown
        def beginning(size)
          check(size)
          shown = [size, @parts >= MOST_PARTS - 2 ? LONGEST_ALONE : LONGEST, @text].min
          @at += size
          @text -= shown
          @bytes.byteslice(@at - size, shown)
        end

        # @param size [Integer] of bytes, or of parts that have at least one each
        # @return [Integer] the same
        # @raise [Damaged]
        def check(size)
          damaged("#{size} follow, and #{left} bytes are left") if size.negative? || size > left
          size
        end

        # @return [Integer] of at most five bytes, seven bits a byte, the lowest first
        def leb128
          number = 0
          5.times do |i|
            byte = self.byte
            number |= (byte & 0x7F) << (7 * i)
            return number if byte < 0x80
          end
          damaged("a number of more than 35 bits")
        end

        # Counts a part.
        #
        # @raise [Cut]
        def part
          raise Cut, "only the first #{MOST_PARTS} parts are shown" if @parts.zero?

          @parts -= 1
        end

        # Counts a level.
        #
        # @return [Object] the block's
        # @raise [Cut]
        def deeper
          raise Cut, "more than #{MOST_DEPTH} levels are not shown" if @depth == MOST_DEPTH

          @depth += 1
          yield.tap { @depth -= 1 }
        end

        # Runs a reader, as the block. When it stops, the group has the parts that it has read.
        #
        # @param group [Group]
        # @return [String, nil] why it stopped
        def read_into(group)
          yield
          nil
        rescue Cut, Damaged => error
          open_groups(group).each(&:cut)
          error.message
        end

        # @param bytes [String] the beginning of a text
        # @param size [Integer] of the whole text
        # @param encoding [Encoding]
        # @return [Leaf] the text as a Ruby literal
        def self.text(bytes, size, encoding = Encoding::UTF_8)
          text = bytes.dup.force_encoding(encoding)
          more = "... (#{size} bytes)" if size > bytes.bytesize
          text = whole_characters(text) if more && encoding == Encoding::UTF_8
          Leaf.new("#{literal(text)}#{more}", text, lines_of(text, more))
        end

        # @param bytes [String] the beginning of a text of another language
        # @param size [Integer] of the whole text
        # @return [Leaf] the text as it is
        def self.foreign_text(bytes, size)
          text = bytes.dup.force_encoding(Encoding::UTF_8).scrub("?")
          lines = text.lines(chomp: true).map { |line| escaped(line) }
          lines = [""] if lines.empty?
          lines[-1] += "... (#{size} bytes)" if size > bytes.bytesize
          Leaf.new(lines.join(" "), text, lines)
        end

        # @param text [String]
        # @return [String] with characters that are not seen as escapes
        def self.escaped(text)
          text.gsub(KeyText::UNSEEN) { |unseen| format("\\u{%X}", unseen.ord) }
        end

        # @param text [String]
        # @return [String] quoted
        def self.literal(text)
          escaped(in_utf8(text).inspect.encode(Encoding::UTF_8))
        end

        # @param name [String] of a symbol
        # @return [Leaf]
        def self.symbol(name)
          name = name.dup.force_encoding(Encoding::UTF_8)
          Leaf.new(SIMPLE_NAME.match?(name.scrub) ? ":#{name}" : ":#{literal(name)}", name.to_s)
        end

        # @param node [Leaf, Group] a key
        # @return [String] its label in a Hash
        def self.key_label(node)
          name = node.inline
          name.start_with?(":") && SIMPLE_NAME.match?(name[1..]) ? "#{name[1..]}: " : "#{name} => "
        end

        # @param name [String] of a class or variable
        # @return [String] so that it can be shown
        def self.name(name)
          KeyText.shown(name.byteslice(0, 100))
        end

        # Text of another encoding in characters, if Ruby can convert it.
        def self.in_utf8(text)
          [Encoding::UTF_8, Encoding::BINARY].include?(text.encoding) ? text : text.encode(Encoding::UTF_8)
        rescue EncodingError
          text.b
        end

        # The text was cut at any byte.
        def self.whole_characters(text)
          3.times { text = text.byteslice(0...-1) unless text.valid_encoding? || text.empty? }
          text
        end

        # A long text of several lines, in as many.
        def self.lines_of(text, more)
          return unless text.valid_encoding? && text.encoding.ascii_compatible? && text.size > 60
          return unless text.index("\n")&.< text.size - 1

          lines = text.lines.map { |line| literal(line) }
          [*lines[0...-1].map { |line| "#{line} \\" }, "#{lines.last}#{more}"]
        end
        private_class_method :in_utf8, :whole_characters, :lines_of

        private

        # Those that were being filled: as many as levels, each the last part of the one above.
        def open_groups(group)
          groups = []
          while groups.size < @depth && (group = group.parts.last&.last).is_a?(Group)
            groups << group
          end
          groups
        end
      end
    end
  end
end
