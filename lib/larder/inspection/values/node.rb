# frozen_string_literal: true

# The parts of a value that is shown: leaves and groups, and the lines that they are written in.

module Larder
  module Inspection
    module Values
      # A value without parts. `value` is what it stands for, if that is simple; `lines` is its text in several lines.
      Leaf = Struct.new(:text, :value, :lines) do
        # @return [String] in one line
        def inline
          text
        end

        # @return [Array<String>] the same in lines
        def to_lines(_width)
          lines || [text]
        end
      end

      # A value with parts, such as an Array. The parts have labels: "@name=", "key => ", or "".
      class Group
        # @return [Array<Array(String, Leaf | Group)>]
        attr_reader :parts

        # @param opening [String] as "["
        # @param closing [String] as "]"
        def initialize(opening, closing)
          @opening = opening
          @closing = closing
          @parts = []
        end

        # @param node [Leaf, Group]
        # @param label [String]
        # @return [Leaf, Group] the node
        def add(node, label = "")
          @parts << [label, node]
          node
        end

        # Puts a better node in the place of the last one.
        #
        # @return [void]
        def replace_last(node)
          @parts.last[1] = node
        end

        # @return [Array<Object>] the values of the parts
        def values
          @parts.map { |_, node| node.is_a?(Leaf) ? node.value : nil }
        end

        # Ends without a closing bracket.
        #
        # @return [void]
        def cut
          @closing = ""
          add(Leaf.new("..."))
        end

        # @return [String] for another place of the same object
        def again
          "#{@opening}...#{@closing}"
        end

        # @return [String] in one line
        def inline
          "#{@opening}#{@parts.map { |label, node| "#{label}#{node.inline}" }.join(", ")}#{@closing}"
        end

        # @param width [Integer] columns
        # @return [Array<String>] in one line if it fits, else a line for each part at least
        def to_lines(width)
          line = inline
          return [line] if line.size <= width || @parts.empty?

          inner = @parts.each_with_index.flat_map do |(label, node), number|
            lines = node.to_lines(width - 3 - label.size).dup
            lines[0] = "#{label}#{lines[0]}"
            lines[-1] = "#{lines[-1]}," unless number == @parts.size - 1
            lines.map { |text| "  #{text}" }
          end
          [@opening.rstrip, *inner, *(@closing unless @closing.empty?)]
        end
      end
    end
  end
end
