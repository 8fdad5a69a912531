# frozen_string_literal: true

module House
  # Takes the English out of a source file or a document: comments, strings of several words, and Markdown outside
  # of code. A simple lexer by lines: where it cannot tell code from English, it leaves the line out.
  class Prose
    # Code and quotations within English, which are not checked.
    QUOTED = /`[^`]*`|“[^”]*”|"[^" ]*"|\]\([^)]*\)/

    # Consecutive lines of English. `kind` is :comment, :document, :heading, :message or :subject; `lines` are pairs of
    # a line's number and its text.
    Paragraph = Struct.new(:kind, :lines) do
      # @return [String] the lines as one. A string or a subject that opens with "what" or "who" does so as a sentence.
      def text
        @text ||= lines.map(&:last).join(" ").then do |text|
          [:message, :subject].include?(kind) ? text.sub(/\Aw(?=hat |ho)/, "W") : text
        end
      end

      # @return [String] the text with code and quotations blanked
      def unquoted
        text.gsub(QUOTED) { |quoted| "`#{"x" * (quoted.size - 2)}`" }
      end

      # @param offset [Integer] into the text
      # @return [Integer] the number of the line there
      def line_number(offset)
        (lines.find { |_, line| (offset -= line.size + 1).negative? } || lines.last).first
      end

      # @param offset [Integer] into the text
      # @return [String] the sentence there
      def sentence(offset)
        from = text.rindex(/[.?!]\s/, [offset - 2, 0].max)
        before = from && from < offset ? from + 1 : 0
        text[before...(text.index(/[.?!](?:\s|\z)/, offset) || text.size)].strip
      end
    end

    RUBY = /\.(?:rb|rake|ru|gemspec|gemfile)\z|(?:\A|\/)(?:Rakefile|Gemfile)\z/
    C = /\.(?:c|h|pml)\z/
    HASH = /\.(?:sh|yml)\z|(?:\A|\/)(?:Makefile|\.rubocop\.yml)\z|\A\.ci\//
    MARKDOWN = /\.md\z/
    PROGRAM = /\A(?:bin|exe|lab\/exe|bench)\/[a-z-]+\z/

    # A heredoc that is shown to people.
    TEXT = /<<[~-]TEXT\b/
    END_OF_TEXT = /\A\s*TEXT\s*\z/
    STRING = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/
    INTERPOLATED = /#\{[^{}]*\}/
    # A message has at least four words.
    MESSAGE = /[[:alpha:]]\S*(?:\s+\S+){3}/
    TAG = /\A@\w+(?:\s+\w+)?(?:\s+\[[^\]]*\])?\s*/
    BULLET = /\A(?:[-*+]|\d+\.)\s+/
    FENCE = /\A\s*(?:```|~~~)/

    # @param path [String] decides how the file is read
    # @param source [String] the file's text
    # @return [Array<Paragraph>]
    def self.of(path, source)
      new(path, source).paragraphs
    end

    # @param path [String]
    # @param source [String]
    def initialize(path, source)
      @lines = source.lines(chomp: true)
      @reader = reader(path, @lines.first.to_s)
      @paragraphs = []
      @current = nil
    end

    # @return [Array<Paragraph>]
    def paragraphs
      send(@reader) if @reader
      finish
      @paragraphs
    end

    private

    def reader(path, first)
      case path
      when MARKDOWN then :markdown
      when C then :c
      when RUBY then :ruby
      when HASH then :hashes
      when PROGRAM then first.include?("ruby") ? :ruby : :hashes
      end
    end

    # Adds a line to the paragraph that is open. A line that begins an item begins a paragraph.
    def add(kind, number, text)
      text = text.strip
      return finish if text.empty? || !text.match?(/[[:alpha:]]/)

      item = text.match(TAG) || text.match(BULLET)
      finish if item || (@current && @current.kind != kind)
      (@current ||= Paragraph.new(kind, [])).lines << [number, item ? item.post_match : text]
    end

    def finish
      @paragraphs << @current if @current
      @current = nil
    end

    def single(kind, number, text)
      finish
      add(kind, number, text)
      finish
    end

    def each_line(&)
      @lines.each.with_index(1, &)
    end

    def ruby
      heredoc = false
      each_line do |line, number|
        break if line == "__END__"

        if heredoc
          heredoc = !line.match?(END_OF_TEXT)
          heredoc ? add(:message, number, line.gsub(INTERPOLATED, "x")) : finish
        else
          line.match?(/\A\s*#/) ? comment(number, line) : code(number, line, "#")
          heredoc = line.match?(TEXT)
        end
      end
    end

    def hashes
      each_line { |line, number| line.match?(/\A\s*#/) ? comment(number, line) : code(number, line, "#") }
    end

    def comment(number, line)
      text = line.sub(/\A\s*#+/, "")
      text.start_with?("   ", "!") ? finish : add(:comment, number, text) # an example, the interpreter
    end

    def c
      inside = false
      each_line do |line, number|
        text = inside ? line : line[%r{\A\s*(?:/\*.*|//.*)}]
        if text
          add(:comment, number, text.sub(%r{\A\s*(?:/\*+|//+|\*(?!/))?}, "").sub(%r{\*/.*\z}, ""))
          inside = !text.include?("*/") && (inside || text.match?(%r{\A\s*/\*}))
          finish unless inside || text.match?(%r{\A\s*//})
        else
          code(number, line, "/*")
          inside = line.gsub(STRING, "").match?(%r{/\*(?!.*\*/)})
        end
      end
    end

    # A line of code: its strings of several words, and the comment behind it.
    def code(number, line, opener)
      return finish unless line.include?('"') || line.include?("'") || line.include?(opener)

      rest = line.gsub(INTERPOLATED, "x").gsub(STRING) do
        text = ($1 || $2).gsub("\\n", " ").gsub(/%[-+.0-9]*[a-z]+/, "x")
        text.match?(MESSAGE) ? message(number, text, line) : finish
        '""'
      end
      finish unless rest.match?(/\\\z|\A\s*""\S*\z/)
      _, found, behind = rest.partition(opener == "#" ? /(?:^|\s)#\s/ : %r{/\*\s?})
      return if found.empty?

      finish
      add(:comment, number, behind.sub(%r{\*/.*\z}, ""))
      finish if opener == "#" || behind.include?("*/")
    end

    # A string that continues that of the line before belongs to its sentence.
    def message(number, text, line)
      finish unless line.match?(/\A\s*["']/)
      add(:message, number, text)
    end

    def markdown
      fenced = false
      each_line do |line, number|
        if line.match?(FENCE)
          fenced = !fenced
          finish
        elsif !fenced && line.start_with?("#")
          single(:heading, number, line.sub(/\A#+/, ""))
        elsif !fenced && line.start_with?("|")
          line.split("|").each { |cell| single(:document, number, cell) }
        elsif !fenced
          add(:document, number, line.sub(/\A>\s?/, ""))
        end
      end
    end
  end
end
