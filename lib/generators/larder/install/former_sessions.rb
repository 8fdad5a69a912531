# frozen_string_literal: true

# Finds the options in the former statements that configure sessions: which of them Larder's sessions take as they are,
# and which have to be left out.

require "ripper"
require_relative "../../../larder/sessions/configuration"

module Larder
  module Generators
    # The options of former sessions, as texts of Ruby. Values are not evaluated.
    # @api private
    class FormerSessions
      # Options of the cookie, which mean the same for each store of Rack's sessions.
      KEPT = ["key", "path", "max_age", "tld_length", *Sessions::Configuration::COOKIE.map(&:to_s)].freeze
      # An option: its name in one of the four ways, and its value.
      OPTION = /\A(?:(\w+):(?!:)|["'](\w+)["']:|:(\w+)\s*=>|["'](\w+)["']\s*=>)\s*(.+)\z/m
      SPACE = %i[on_sp on_nl on_ignored_nl on_comment].freeze
      OPENING = %i[on_lparen on_lbracket on_lbrace on_tlambeg on_embexpr_beg].freeze
      CLOSING = %i[on_rparen on_rbracket on_rbrace on_embexpr_end].freeze
      private_constant :OPTION, :SPACE, :OPENING, :CLOSING

      # @param statements [Array<String>] each `config.session_store ...`; those with Larder's sessions are not former
      def initialize(statements)
        former = statements.grep_v(/larder_store|LarderStore/)
        @options = former.flat_map { |text| options(text) }
        @kept = former.one? ? @options.select { |name, value| value && KEPT.include?(name) } : []
      end

      # @return [Hash{String=>String}] options that are kept; of several statements, only a name of the cookie
      def kept
        @kept.to_h
      end

      # @return [Array<String>] the others: names as `servers:`, and texts without a name
      def left
        (@options - @kept).filter_map { |name, value| value.nil? ? name : ("#{name}:" unless name == "key") }.uniq
      end

      private

      # @return [Array<Array(String, String)>] name and value of each; the value is nil where there is no name
      def options(text)
        tokens = Ripper.lex(text).map { |_, kind, part| [kind, part] }
        tokens = trimmed(tokens.drop(tokens.index([:on_ident, "session_store"]) + 1))
        tokens = inner(tokens) if tokens.dig(0, 0) == :on_lparen
        given = arguments(tokens).drop(1).flat_map { |one| braces?(one) ? arguments(inner(one)) : [one] }
        given.map { |one| option(one) }
      end

      def option(tokens)
        text = source(tokens)
        *names, value = OPTION.match(text)&.captures
        value && Ripper.sexp("f(#{text})") ? [names.compact.first, value] : [text, nil]
      end

      # Divides at commas, but not at those in brackets.
      def arguments(tokens)
        depth = 0
        parts = tokens.each_with_object([[]]) do |(kind, part), found|
          depth += 1 if OPENING.include?(kind)
          depth -= 1 if CLOSING.include?(kind)
          depth.zero? && kind == :on_comma ? found << [] : found.last << [kind, part]
        end
        parts.map { |one| trimmed(one) }.reject(&:empty?)
      end

      def trimmed(tokens)
        first = tokens.index { |kind, _| !SPACE.include?(kind) }
        first ? tokens[first..(tokens.rindex { |kind, _| !SPACE.include?(kind) })] : []
      end

      def braces?(tokens)
        [tokens.dig(0, 0), tokens.dig(-1, 0)] == %i[on_lbrace on_rbrace]
      end

      def inner(tokens)
        tokens[1...-1]
      end

      # In one line, without comments.
      def source(tokens)
        tokens.chunk_while { |(one, _), (next_one, _)| SPACE.include?(one) && SPACE.include?(next_one) }
              .map { |chunk| SPACE.include?(chunk.dig(0, 0)) ? " " : chunk.dig(0, 1) }.join
      end
    end
  end
end
