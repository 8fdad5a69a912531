# frozen_string_literal: true

# Owns what is known about where text goes: whether it is a terminal, and which characters it takes.

module Larder
  module CLI
    # A stream that text for people is written to.
    class Terminal
      STYLES = { bold: 1, dim: 2, red: 31 }.freeze
      CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/
      private_constant :STYLES, :CONTROLS

      # @param io [IO]
      # @param environment [Hash{String=>String}]
      def initialize(io, environment: ENV)
        @io = io
        @environment = environment
      end

      # @return [Boolean]
      def interactive?
        @io.tty? && @environment["TERM"] != "dumb"
      end

      # Writes lines. What would control the terminal is shown instead: names are not always well-meant.
      #
      # @param lines [Array<String>]
      # @param style [Symbol, nil] :bold, :dim or :red, where colours are wanted (https://no-color.org)
      # @return [void]
      def puts(*lines, style: nil)
        lines.each { |line| @io.puts(paint(printable(line), style)) }
      end

      # Writes a question, which its answer stands behind.
      #
      # @param text [String]
      # @return [void]
      def ask(text)
        @io.print(printable(text), " ")
        @io.flush
      end

      private

      def paint(text, style)
        return text if style.nil? || !interactive? || !@environment["NO_COLOR"].to_s.empty?

        "\e[#{STYLES.fetch(style)}m#{text}\e[0m"
      end

      def printable(text)
        text = text.gsub(CONTROLS) { |control| format("\\x%02X", control.ord) }
        encoding = @io.external_encoding || Encoding.default_external
        encoding == Encoding::UTF_8 ? text : text.encode(encoding, undef: :replace)
      end
    end
  end
end
