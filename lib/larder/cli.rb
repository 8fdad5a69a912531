# frozen_string_literal: true

# Owns the command line as a whole: which command runs, how errors are told, and exit codes. Needs the standard library
# and Larder alone: no Rails, no application.

require_relative "../larder"
require_relative "cli/errors"
require_relative "cli/commands"
require_relative "cli/terminal"

module Larder
  # The executable `larder`.
  module CLI
    # Exit codes. FAILED: there is no such file or session, or it could not be done.
    OK = 0
    FAILED = 1
    USAGE = 2
    # A shell's convention: 128 and the number of the signal.
    SIGNALLED = 128

    class << self
      # @param arguments [Array<String>]
      # @param input [IO] asked whether somebody is sure
      # @param out [IO] for results
      # @param err [IO] for questions and errors
      # @return [Integer] exit code
      def run(arguments, input: $stdin, out: $stdout, err: $stderr)
        %w[TERM HUP].each { |signal| trap(signal) { raise SignalException, signal } }
        out, err = [out, err].map { |io| Terminal.new(io) }
        name, *rest = *arguments = text(arguments)
        answer(name, rest, input, out, err)
      rescue UsageError => error
        err.puts("larder: #{error.message}", "Try: larder #{[*hint(arguments), "--help"].join(" ")}")
        USAGE
      rescue ::Larder::Error, SystemCallError => error
        return OK if error.is_a?(Errno::EPIPE) # nobody reads on

        err.puts("larder: #{error.message}")
        FAILED
      rescue SignalException => error
        err.puts("larder: stopped by SIG#{Signal.signame(error.signo)}")
        SIGNALLED + error.signo
      end

      # @return [String]
      def help
        width = Commands.names.map(&:size).max
        commands = Commands.names.map { |name| "  #{name.ljust(width)}  #{Commands.fetch(name)::SUMMARY}" }
        <<~TEXT
          larder looks after what an application keeps in Larder's files.

          Usage: larder COMMAND [options]

          Commands:
          #{commands.join("\n")}

          `larder COMMAND --help` explains a command and its options.
        TEXT
      end

      private

      def answer(name, rest, input, out, err)
        case name
        when nil, "help", "--help", "-h" then out.puts(help)
        when "--version", "version" then out.puts("larder #{VERSION}")
        else return Commands.fetch(name).new(out, err, input).run(rest)
        end
        OK
      end

      # The words of a command before its options: whose help may help.
      def hint(arguments)
        name, *rest = arguments
        return [] unless Commands.names.include?(name)

        [name, *Commands.fetch(name).hint(rest)]
      end

      # Arguments have the locale's encoding, which may be none; what sessions are called by is UTF-8.
      def text(arguments)
        arguments.map do |argument|
          text = argument.dup.force_encoding(Encoding::UTF_8)
          text.valid_encoding? ? text : raise(UsageError, "#{text.scrub("?").inspect} is no valid UTF-8")
        end
      end
    end
  end
end
