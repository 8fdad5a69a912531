# frozen_string_literal: true

# Parses the options of a command: exact names, no argument left over, help.

require "optparse"
require_relative "errors"

module Larder
  module CLI
    # For classes with a `parser`, which they make by {#explained}. `operands` gets the arguments that are no options,
    # `understood` checks what can be checked when all are read.
    module Options
      # Has the options that it is given, and none of Ruby's own, such as --version, which ends the program.
      class Parser < OptionParser
        private

        def add_officious; end
      end
      private_constant :Parser

      # @param arguments [Array<String>]
      # @return [self]
      # @raise [UsageError] names the option and what is possible
      def parse(arguments)
        options = arguments.take_while { |argument| argument != "--" }
        rest = parser.parse(apart(options)) + arguments.drop(options.size + 1)
        return self if help?

        operands(rest)
        understood
        self
      rescue OptionParser::ParseError => error
        raise UsageError, error.message
      end

      # @return [Boolean]
      def help?
        @help == true
      end

      # @return [String]
      def help
        parser.to_s
      end

      # @return [String] the lines of the help that show how the command is called
      def usage
        help[/\A.*?\n(?=\n)/m]
      end

      # @return [Array<OptionParser::Switch>] the options, as `--help` lists them
      def switches
        parser.top.list.grep(OptionParser::Switch)
      end

      private

      # @param banner [String]
      # @param footer [String, nil]
      # @param width [Integer] columns of the options
      # @yieldparam options [OptionParser]
      # @return [OptionParser]
      def explained(banner, footer = nil, width: 18)
        Parser.new(banner, width, "  ") do |options|
          options.require_exact = true
          yield options if block_given?
          options.on("-h", "--help", "this text") { @help = true }
          options.separator("\n#{footer}") if footer
        end
      end

      def operands(rest)
        raise UsageError, "unexpected argument #{rest.first}" unless rest.empty?
      end

      def understood; end

      # "--last=5m" as "--last 5m": a parser that requires exact names knows the one form only.
      def apart(arguments)
        arguments.flat_map { |each| each.match?(/\A--[a-z][a-z-]*=/) ? each.split("=", 2) : [each] }
      end
    end
  end
end
