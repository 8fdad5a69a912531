# frozen_string_literal: true

# The base of commands: parses the arguments, shows the help, or acts.

require_relative "options"
require_relative "program"

module Larder
  module CLI
    # A command with a `parser`, see {Options}, and `act`, which does it and returns an exit code.
    class Command
      include Options

      # @param out [Terminal] for results
      # @param err [Terminal] for questions and errors
      # @param input [IO] for answers
      def initialize(out = Terminal.new($stdout), err = Terminal.new($stderr), input = $stdin)
        @out = out
        @err = err
        @input = input
      end

      # @param arguments [Array<String>]
      # @return [Integer] exit code
      # @raise [UsageError]
      def run(arguments)
        parse(arguments)
        help? ? say(help.lines(chomp: true)) : act
      end

      private

      def say(lines)
        @out.puts(*lines)
        OK
      end
    end
  end
end
