# frozen_string_literal: true

# Adds lines to ignore files and to the routes of an application, each once, and takes them out again.

module Larder
  module Generators
    # The text of a file. Each change returns a text.
    # @api private
    class ListedLines
      TITLE = "# Caches and sessions of Larder"
      # A line that begins a block of the application's routes, and does not end it. An engine's may come before it.
      DRAW = /^(?![^#\n]*\bEngine\.routes)[^#\n]*routes\.draw do[^\S\n]*(?:#.*)?\n/
      # Comments that must be the first lines of a file.
      MAGIC = /\A(?:#.*(?:frozen_string_literal|coding|warn_indent).*\n)*\n?/
      private_constant :TITLE, :DRAW, :MAGIC

      # @param text [String]
      def initialize(text)
        @text = text
      end

      # @param line [String] of an ignore file
      # @return [String]
      def with(line)
        return @text if @text.lines.any? { |one| one.strip == line }

        "#{@text}#{"\n" unless @text.empty? || @text.end_with?("\n")}#{"\n" unless @text.empty?}#{TITLE}\n#{line}\n"
      end

      # @param line [String] as {#with} has added it
      # @return [String]
      def without(line)
        @text.sub(/\n?^#{Regexp.escape(TITLE)}\n#{Regexp.escape(line)}\n/, "")
      end

      # @param library [String] that the routes load
      # @param line [String]
      # @return [String, nil] nil: no line begins a block of routes
      def mounted(library, line)
        return @text if @text.match?(/#{use_of(line)}(?!::)/)
        return unless @text.match?(DRAW)

        text = @text.sub(DRAW) { |draw| "#{draw}  #{line}\n" }
        required = required(library)
        text.include?(required) ? text : text.sub(MAGIC) { |magic| "#{magic}#{required}#{"\n" if first?(text)}" }
      end

      # @param library [String]
      # @param line [String] as {#mounted} has added it
      # @return [String]
      def unmounted(library, line)
        return @text unless @text.include?("  #{line}\n")

        text = @text.sub("  #{line}\n", "")
        return text if text.match?(use_of(line)) # as Larder::Metrics::Health

        rest = text.sub(required(library), "")
        first?(rest) ? text.sub(/^#{Regexp.escape(required(library))}\n?/, "") : rest
      end

      private

      # The name of the class that is mounted, outside of comments.
      def use_of(line)
        /^[^#\n]*#{line[/\Amount ([\w:]+)/, 1]}\b/
      end

      def required(library)
        "require \"#{library}\"\n"
      end

      # True if no library is loaded yet, so that a blank line follows.
      def first?(text)
        !text.match?(/^require /)
      end
    end
  end
end
