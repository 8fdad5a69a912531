# frozen_string_literal: true

# Finds the statements of a Ruby file that configure something, such as `config.cache_store = ...`, and replaces one so
# that it can come back: the former statement stays as a comment between a mark and the new one.

require "ripper"

module Larder
  module Generators
    # The text of a file, and what can be changed in it. Objects do not change: each change returns a text.
    # @api private
    class ConfiguredLines
      # A statement: its first line and number of lines, counted from 0; and whether it can be replaced: it stands alone
      # on its lines, and in no condition, method or block but that of `configure`.
      Statement = Struct.new(:first, :count, :text, :replaceable) do
        # @return [Boolean] true if it configures a store of Larder's
        def larders?
          text.match?(/larder_store|LarderStore/)
        end
      end

      # The file cannot be read as Ruby.
      class Unreadable < StandardError; end

      REPLACED = "# Before larder:install, and after bin/rails destroy larder:install:"
      ADDED = "# Added by larder:install, removed by bin/rails destroy larder:install:"
      # Nodes of Ripper around a statement that runs whenever the file is loaded.
      OPEN = %i[program module class bodystmt method_add_block do_block brace_block].freeze
      private_constant :REPLACED, :ADDED, :OPEN

      # @param text [String]
      # @param name [String] of the setting, as "cache_store"
      def initialize(text, name)
        @text = text
        @name = name
        @lines = text.lines
      end

      # @return [Array<Statement>]
      # @raise [Unreadable]
      def statements
        @statements ||= found(tree, true).map { |line, open| statement(line - 1, open) }.sort_by(&:first)
      end

      # @param line [String] the new statement
      # @return [String] the text with the only statement as a comment and the new one after it
      def replaced(line)
        old = statements.first
        indent = old.text[/\A */]
        comments = old.text.lines.map { |one| commented(one, indent) }
        spliced(old.first, old.count, ["#{indent}#{REPLACED}\n", *comments, "#{indent}#{line}\n"])
      end

      # @param line [String] the new statement
      # @return [String, nil] the text with the statement after a comment that has one, or at the end of the outer
      #   block; nil: the file has none
      def added(line)
        hint = @lines.rindex { |one| one.match?(/\A *# *config\.#{@name}\b/) }
        place = hint ? hint + 1 : @lines.rindex { |one| one.match?(/\Aend\b/) }
        spliced(place, 0, ["  #{ADDED}\n", "  #{line}\n"]) if place
      end

      # @return [String] the text without what {#replaced} and {#added} have written
      def restored
        new = statements.find { |one| marked(one) }
        return @text unless new

        mark = marked(new)
        indent = @lines[mark][/\A */]
        former = @lines[(mark + 1)...new.first].map { |one| uncommented(one, indent) }
        spliced(mark, new.first + new.count - mark, former)
      end

      # @param line [String] a statement that stands alone in a file
      # @return [String] the text of that file
      def self.alone(line)
        "#{ADDED}\n#{line}\n"
      end

      private

      def tree
        Ripper.sexp(@text) || raise(Unreadable, "it has a syntax error")
      end

      # @return [Array<Array(Integer, Boolean)>] line number of each statement, and whether it runs in any case
      def found(node, open)
        return [] unless node.is_a?(Array)

        line = line_of(node)
        return [[line, open]] if line

        inside = open && open?(node)
        node.flat_map { |part| found(part, inside) }
      end

      def open?(node)
        return true unless node.first.is_a?(Symbol)
        return false unless OPEN.include?(node.first)

        node.first != :method_add_block || identifiers(node[1]).include?("configure")
      end

      # `config.x = ...`, `config.x ...` and `config.x(...)`.
      def line_of(node)
        target = case node
                 in [:assign, [:field, *], _] | [:method_add_arg, [:call, *], [:arg_paren, [_, *]]] then node[1].drop(1)
                 in [:command_call, *] then node.drop(1)
                 else return
                 end
        receiver, _, (_, name, (line,)) = target
        line if name == @name && identifiers(receiver).last == "config"
      end

      def identifiers(node)
        return [] unless node.is_a?(Array)
        return [node[1]] if node.first == :@ident

        node.flat_map { |part| identifiers(part) }
      end

      # The lines of a statement: as few as are complete, and what continues them.
      def statement(first, open)
        count = (1..(@lines.size - first)).find { |size| complete?(first, size) } || 1
        text = @lines[first, count].join
        alone = Ripper.sexp(text)&.dig(1)&.size == 1 && text.match?(/\A *(?:Rails\.application\.)?config\.#{@name}\b/)
        Statement.new(first, count, text, open && alone)
      end

      def complete?(first, size)
        text = @lines[first, size].join
        return false if text.chomp.end_with?("\\") || Ripper.sexp(text).nil?

        following = @lines.drop(first + size).find { |line| !line.match?(/\A\s*(?:#|$)/) }
        !following&.match?(/\A\s*&?\.\w/)
      end

      def marked(statement)
        mark = statement.first - 1
        return mark if mark >= 0 && @lines[mark].strip == ADDED

        mark -= 1 while mark.positive? && @lines[mark].match?(/\A *#/) && @lines[mark].strip != REPLACED
        mark if mark >= 0 && @lines[mark].strip == REPLACED
      end

      # Lines of a text that is not indented keep their beginning.
      def commented(line, indent)
        line.start_with?(indent) ? "#{indent}# #{line.delete_prefix(indent)}" : "# #{line}"
      end

      def uncommented(line, indent)
        line.start_with?("#{indent}# ") ? "#{indent}#{line.delete_prefix("#{indent}# ")}" : line.delete_prefix("# ")
      end

      def spliced(first, count, lines)
        [*@lines.first(first), *lines, *@lines.drop(first + count)].join
      end
    end
  end
end
