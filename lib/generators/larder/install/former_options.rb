# frozen_string_literal: true

# Divides a statement of a configuration, such as `config.cache_store = :file_store, "tmp", { expires_in: 1.day }`, into
# the store and its options.

require "ripper"

module Larder
  module Generators
    # The options of one statement, as texts of Ruby. Values are not evaluated, and stay as they are written.
    # @api private
    class FormerOptions
      # An option: its name in one of the four ways, and its value.
      OPTION = /\A(?:(\w+):(?!:)|["'](\w+)["']:|:(\w+)\s*=>|["'](\w+)["']\s*=>)\s*(.+)\z/m
      # A store that is only named.
      NAMED = /\A(?::\w+|"\w+"|'\w+'|(?:::)?[A-Z]\w*(?:::[A-Z]\w*)*)\z/
      SPACE = %i[on_sp on_nl on_ignored_nl on_comment].freeze
      OPENING = %i[on_lparen on_lbracket on_lbrace on_tlambeg on_embexpr_beg].freeze
      CLOSING = %i[on_rparen on_rbracket on_rbrace on_embexpr_end].freeze
      PAIRS = { on_lparen: :on_rparen, on_lbracket: :on_rbracket, on_lbrace: :on_rbrace }.freeze
      HEREDOC = %i[on_heredoc_beg on_heredoc_end].freeze
      # Keywords that `end` closes; those that are also modifiers; those that follow a complete statement.
      BLOCKS = %w[do begin case def class module].freeze
      CONDITIONS = %w[if unless].freeze
      MODIFIERS = %w[if unless while until].freeze
      JOINS = %w[rescue and or].freeze
      # A token of Ripper. `level` is the number of brackets and blocks around it.
      Token = Struct.new(:kind, :text, :state, :level)
      private_constant :OPTION, :NAMED, :SPACE, :OPENING, :CLOSING, :PAIRS, :HEREDOC, :BLOCKS, :CONDITIONS, :MODIFIERS,
                       :JOINS, :Token

      # @return [String] the first argument: the name of the store, or what makes it
      attr_reader :store
      # @return [Hash{String=>String}] values by names
      attr_reader :named
      # @return [Array<String>] arguments that have no name, or whose value cannot be told apart
      attr_reader :others

      # @param text [String] the statement
      # @param setting [String] as "cache_store"
      def initialize(text, setting)
        first, *rest = given(text, setting)
        @store = first ? source(first) : ""
        options = rest.flat_map { |one| enclosed?(one, :on_lbrace) ? arguments(inner(one)) : [one] }
                      .map { |one| option(one) }
        @named = options.select(&:last).to_h
        @others = options.reject(&:last).map(&:first)
        @others.unshift(@store.split.join(" ")) unless @store.match?(NAMED)
      end

      private

      # @return [Array<Array<Token>>] the arguments
      def given(text, setting)
        tokens = Ripper.lex(text).map { |_, kind, part, state| Token.new(kind, part, state) }
        tokens = trimmed(tokens.drop(tokens.index { |one| one.kind == :on_ident && one.text == setting } + 1))
        assigned = tokens.first&.text == "="
        tokens = trimmed(unconditional(levels(assigned ? tokens.drop(1) : tokens)))
        bracket = assigned ? :on_lbracket : :on_lparen
        arguments(enclosed?(tokens, bracket) ? inner(tokens) : tokens)
      end

      # Without a modifier such as `if Rails.env.production?`.
      def unconditional(tokens)
        tokens.take_while { |one| !(one.level.zero? && one.kind == :on_kw && (modifier?(one) || joins?(one))) }
      end

      # A modifier differs from the keyword that begins an expression by the state of the lexer after it.
      def modifier?(token)
        MODIFIERS.include?(token.text) && token.state.allbits?(Ripper::EXPR_BEG | Ripper::EXPR_LABEL)
      end

      def joins?(token)
        JOINS.include?(token.text) && token.state.allbits?(Ripper::EXPR_BEG)
      end

      # Both brackets of a pair, and both keywords of a block, have the level of what is around them.
      def levels(tokens)
        level = 0
        tokens.each_with_index do |one, index|
          symbol = index.positive? && tokens[index - 1].kind == :on_symbeg
          level -= 1 if CLOSING.include?(one.kind) || (!symbol && keyword?(one, "end"))
          one.level = level
          level += 1 if OPENING.include?(one.kind) || (!symbol && opens?(one))
        end
      end

      def opens?(token)
        keyword?(token, *BLOCKS) || (keyword?(token, *CONDITIONS) && !modifier?(token))
      end

      def keyword?(token, *words)
        token.kind == :on_kw && words.include?(token.text)
      end

      # @return [Array(String, String)] name and value; the value is nil if there is no name, or if the text of another
      #   line belongs to it
      def option(tokens)
        text = source(tokens)
        *names, value = OPTION.match(text)&.captures
        name = names.compact.first
        return ["#{name || text[/\A.*/]}#{":" if name}", nil] if tokens.any? { |one| HEREDOC.include?(one.kind) }

        value && Ripper.sexp("f(#{text})") ? [name, value] : [text.split.join(" "), nil]
      end

      # Divides at commas, but not at those in brackets and blocks.
      def arguments(tokens)
        level = tokens.first&.level
        parts = tokens.each_with_object([[]]) do |one, found|
          one.kind == :on_comma && one.level == level ? found << [] : found.last << one
        end
        parts.map { |one| trimmed(one) }.reject(&:empty?)
      end

      def trimmed(tokens)
        first = tokens.index { |one| !SPACE.include?(one.kind) }
        first ? tokens[first..(tokens.rindex { |one| !SPACE.include?(one.kind) })] : []
      end

      # True if the first token is this bracket, and the last token closes it.
      def enclosed?(tokens, bracket)
        tokens.first&.kind == bracket && tokens.last.kind == PAIRS.fetch(bracket) &&
          tokens[1...-1].all? { |one| one.level > tokens.first.level }
      end

      def inner(tokens)
        trimmed(tokens[1...-1])
      end

      def source(tokens)
        tokens.map(&:text).join
      end
    end
  end
end
