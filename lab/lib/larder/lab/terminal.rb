# frozen_string_literal: true

# Owns what is known about where text goes: its width, whether it is a terminal, whether colours and characters beyond
# ASCII may be used.

require "io/console"

module Larder
  module Lab
    # A stream that text for people is written to.
    class Terminal
      # Width where nothing better is known.
      WIDTH = 80
      # What is written where the locale has no such character.
      ASCII = { "µ" => "u", "×" => "x", "–" => "-", "≥" => ">=", "—" => "-", "≈" => "~", "∞" => "-", "…" => "." }.freeze
      STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 }.freeze

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

      # @return [Boolean] https://no-color.org: any value but the empty one turns colours off
      def colours?
        interactive? && @environment["NO_COLOR"].to_s.empty?
      end

      # @return [Integer] columns: COLUMNS, else the terminal's, else 80; never less than 60
      def width
        asked = @environment["COLUMNS"].to_i
        return [asked, 60].max if asked.positive?

        size = @io.winsize.last if @io.tty?
        size.to_i.positive? ? [size, 60].max : WIDTH
      rescue SystemCallError
        WIDTH
      end

      # @param text [String]
      # @param style [Symbol] a key of {STYLES}
      # @return [String]
      def paint(text, style)
        colours? ? "\e[#{STYLES.fetch(style)}m#{text}\e[0m" : text
      end

      # @param text [String]
      # @return [void]
      def puts(text = "")
        @io.puts(printable(text))
      end

      # @param text [String]
      # @return [void]
      def print(text)
        @io.print(printable(text))
        @io.flush
      end

      private

      def printable(text)
        encoding = @io.external_encoding || Encoding.default_external
        return text if encoding == Encoding::UTF_8

        text.encode(Encoding::US_ASCII, fallback: ->(character) { ASCII.fetch(character, "?") })
      end
    end
  end
end
