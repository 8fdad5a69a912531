# frozen_string_literal: true

# Writes text for people: with colours where they are wanted, in characters that the terminal has.

require "io/console"
require_relative "../bytes/remedy"

module Larder
  module CLI
    # A stream that text for people is written to.
    class Terminal
      # Width where nothing better is known.
      WIDTH = 80
      HEIGHT = 24
      LEAST_WIDTH = 60
      # What is written where the encoding has no such character.
      ASCII = { "µ" => "u", "×" => "x", "–" => "-", "≥" => ">=", "—" => "-", "≈" => "~", "∞" => "-", "…" => ".",
                "±" => "~" }.freeze
      STYLES = { bold: 1, dim: 2, reverse: 7, red: 31 }.freeze
      CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/
      private_constant :WIDTH, :HEIGHT, :LEAST_WIDTH, :ASCII, :STYLES, :CONTROLS

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

      # @return [Integer] columns: COLUMNS, else the terminal's, else 80; never less than 60
      def width
        columns = @environment["COLUMNS"].to_i
        columns = @io.winsize.last if columns <= 0 && @io.tty?
        columns.positive? ? [columns, LEAST_WIDTH].max : WIDTH
      rescue SystemCallError
        WIDTH
      end

      # @return [Array(Integer, Integer)] rows and columns of the terminal as it is now; 24 and 80 where it does not say
      def size
        rows, columns = @io.winsize
        [rows.positive? ? rows : HEIGHT, columns.positive? ? columns : WIDTH]
      end

      # @param text [String]
      # @param style [Symbol, nil] :bold, :dim, :reverse or :red
      # @return [String] with that style if colours are wanted (https://no-color.org)
      def paint(text, style)
        return text if style.nil? || !interactive? || !@environment["NO_COLOR"].to_s.empty?

        "\e[#{STYLES.fetch(style)}m#{text}\e[0m"
      end

      # Writes lines. Control characters and bytes that are not UTF-8 are shown as text, because names can contain them.
      # The name of a directory has the encoding of the locale.
      #
      # @param lines [Array<String>]
      # @param style [Symbol, nil] see {#paint}
      # @return [void]
      def puts(*lines, style: nil)
        lines = [""] if lines.empty?
        lines.each do |line|
          text = Remedy.shown(line).gsub(CONTROLS) { |control| format("\\x%02X", control.ord) }
          print(paint(text, style), "\n")
        end
      end

      # Writes text as it is: with styles, a question whose answer stands behind it, or a line that is drawn again.
      #
      # @param text [Array<String>]
      # @return [void]
      def print(*text)
        @io.print(*text.map { |part| encoded(part) })
        @io.flush
      end

      # Writes bytes as they are.
      #
      # @param bytes [String]
      # @return [void]
      def write(bytes)
        @io.binmode
        @io.write(bytes)
        @io.flush
      end

      private

      def encoded(text)
        encoding = @io.external_encoding || Encoding.default_external
        return text if encoding == Encoding::UTF_8

        text.encode(encoding, fallback: ->(character) { ASCII.fetch(character, "?") })
      end
    end
  end
end
