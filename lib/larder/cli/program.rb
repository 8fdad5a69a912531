# frozen_string_literal: true

# A command-line program with several commands: finds the command, reports errors, and returns an exit code.

require_relative "../inspection/errors"
require_relative "errors"
require_relative "registry"
require_relative "terminal"

module Larder
  module CLI
    # Exit codes. FAILED: the command could not do what was asked.
    OK = 0
    FAILED = 1
    USAGE = 2
    # A shell's convention: 128 and the number of the signal.
    SIGNALLED = 128

    # Runs the block, and reports what stops it.
    #
    # @param program [String] name in messages
    # @param err [Terminal]
    # @param words [Array<String>] words that stand before --help
    # @yieldreturn [Integer] exit code
    # @return [Integer] exit code
    def self.guard(program, err = Terminal.new($stderr), words = [])
      yield
    rescue UsageError, Inspection::Invalid => error
      err.puts("#{program}: #{error.message}", "Try: #{[program, *words, "--help"].join(" ")}")
      USAGE
    rescue ::Larder::Error, SystemCallError => error
      return OK if error.is_a?(Errno::EPIPE) # the reader has left

      err.puts("#{program}: #{error.message.sub(/ @ \w+ - /, ": ")}") # without the function of Ruby that failed
      FAILED
    rescue SignalException => error
      err.puts("#{program}: stopped by SIG#{Signal.signame(error.signo)}")
      SIGNALLED + error.signo
    end

    # The commands under one name.
    class Program
      # @param name [String] that users type
      # @param version [String]
      # @param about [String] what it does, in one sentence
      # @param commands [Registry] each has a SUMMARY, is made of two terminals and an input, and answers
      #   `run(arguments)` with an exit code
      # @param settings [Hash{Symbol=>Object}] more keywords that each command is made with
      def initialize(name, version:, about:, commands:, settings: {})
        @name = name
        @version = version
        @about = about
        @commands = commands
        @settings = settings
      end

      # @param arguments [Array<String>]
      # @param input [IO] for answers
      # @param out [IO] for results
      # @param err [IO] for questions, progress and errors
      # @return [Integer] exit code
      def run(arguments, input: $stdin, out: $stdout, err: $stderr)
        out, err = [out, err].map { |io| Terminal.new(io) }
        CLI.guard(@name, err, path(arguments)) do
          name, *rest = asked(text(arguments))
          case name
          when nil, "--help", "-h" then out.puts(*help)
          when "--version", "version" then out.puts("#{@name} #{@version}")
          else next @commands.fetch(name).new(out, err, input, **@settings).run(rest)
          end
          OK
        end
      end

      private

      def help
        width = @commands.names.map(&:size).max
        lines = @commands.names.map { |name| "  #{name.ljust(width)}  #{@commands.fetch(name)::SUMMARY}" }
        [@about, "", "Usage: #{@name} COMMAND [options]", "", "Commands:", *lines, "",
         "`#{@name} help COMMAND` explains a command and its options."]
      end

      # "help stat" as "stat --help".
      def asked(arguments)
        name, *rest = arguments
        name == "help" ? [*rest, "--help"] : arguments
      end

      # The words that name a command, and one below it.
      def path(arguments)
        name, below = arguments
        return [] unless @commands.names.include?(name)

        command = @commands.fetch(name)
        [name, *(below if command.is_a?(Registry) && command.names.include?(below))]
      end

      # Arguments have the locale's encoding, which may be none; names in Larder's files are UTF-8.
      def text(arguments)
        arguments.map do |argument|
          text = argument.dup.force_encoding(Encoding::UTF_8)
          text.valid_encoding? ? text : raise(UsageError, "#{text.scrub("?").inspect} is not valid UTF-8")
        end
      end
    end
  end
end
