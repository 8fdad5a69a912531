# frozen_string_literal: true

# Owns the command line as a whole: which command runs, how errors are told, and exit codes.

require_relative "commands"
require_relative "errors"
require_relative "terminal"
require_relative "version"
require_relative "yjit"

module Larder
  module Lab
    # The executable `larder-lab`.
    module CLI
      # Exit codes. FAILED: a row is invalid, or nothing could be measured.
      OK = 0
      FAILED = 1
      USAGE = 2
      # A shell's convention: 128 and the number of the signal.
      SIGNALLED = 128

      module_function

      # @param arguments [Array<String>]
      # @param out [IO] for results
      # @param err [IO] for progress and errors
      # @return [Integer] exit code
      def run(arguments, out: $stdout, err: $stderr)
        %w[TERM HUP].each { |signal| trap(signal) { raise SignalException, signal } }
        name, *rest = arguments
        case name
        when nil, "help", "--help", "-h" then out.puts(help)
        when "--version", "version" then out.puts("larder-lab #{VERSION}")
        else
          Yjit.enable
          return Commands.fetch(name).new(Terminal.new(out), Terminal.new(err)).run(rest)
        end
        OK
      rescue UsageError => error
        err.puts("larder-lab: #{error.message}", "Try: larder-lab #{"#{name} " if Commands.names.include?(name)}--help")
        USAGE
      rescue Errno::EPIPE
        OK
      rescue SignalException => error
        err.puts("larder-lab: stopped by SIG#{Signal.signame(error.signo)}; nothing was kept")
        SIGNALLED + error.signo
      end

      # @return [String]
      def help
        width = Commands.names.map(&:size).max
        commands = Commands.names.map { |name| "  #{name.ljust(width)}  #{Commands.fetch(name)::SUMMARY}" }
        <<~TEXT
          larder-lab measures Rails cache stores against each other, on this machine.

          Usage: larder-lab COMMAND [options]

          Commands:
          #{commands.join("\n")}

          `larder-lab COMMAND --help` explains a command and its options.
        TEXT
      end
    end
  end
end
