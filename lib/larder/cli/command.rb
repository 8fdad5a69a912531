# frozen_string_literal: true

# Owns what all commands have in common: how arguments are understood, and that help is asked for alike.

require "json"
require "optparse"
require_relative "errors"
require_relative "../obstacle"

module Larder
  module CLI
    # A command with a `parser` of its options, made by {#explained}, and `act`, which does it and answers an exit code.
    # One that takes words beside options says so in `words`.
    class Command
      # @param out [Terminal] for results
      # @param err [Terminal] for questions and errors
      # @param input [IO] for answers
      def initialize(out, err, input)
        @out = out
        @err = err
        @input = input
      end

      # Which words of the arguments name a command below this one.
      #
      # @param _arguments [Array<String>]
      # @return [Array<String>]
      def self.hint(_arguments)
        []
      end

      # @param arguments [Array<String>]
      # @return [Integer] exit code
      # @raise [UsageError]
      def run(arguments)
        options = arguments.take_while { |argument| argument != "--" }
        rest = parser.parse(apart(options)) + arguments.drop(options.size + 1)
        return say(parser.to_s.lines(chomp: true)) if @help

        words(rest)
        act
      rescue OptionParser::ParseError => error
        raise UsageError, error.message
      end

      private

      # The file that nobody has named as an argument.
      def file_of(variable, name)
        Application.variable(variable) || Application.file(name)
      rescue ::ArgumentError => error
        raise UsageError, error.message
      end

      # Who may not open a file can be told who may.
      #
      # @param path [String]
      # @param command [String] of larder, to be run as the owner
      # @param who [String] who runs the application, in the words of the sentence
      # @raise [Failure]
      def foreign(path, command, who: "who")
        number = File.stat(path).uid
        owner = Obstacle.user(number)
        raise Failure, "#{path} belongs to the user #{number}, who runs the application: run larder as that user" \
          if owner == number.to_s

        raise Failure, "#{path} belongs to #{owner}, #{who} runs the application: sudo -u #{owner} larder #{command}"
      end

      # @param banner [String]
      # @param footer [String, nil]
      # @yieldparam options [OptionParser]
      # @return [OptionParser]
      def explained(banner, footer = nil)
        OptionParser.new do |options|
          options.require_exact = true
          options.summary_width = 18
          options.summary_indent = "  "
          options.banner = banner
          options.separator("\nOptions:")
          yield options
          options.on("--json", "for machines, on one line") { @json = true }
          options.on("-h", "--help", "this text") { @help = true }
          options.separator("\n#{footer}") if footer
        end
      end

      def words(rest)
        raise UsageError, "unexpected argument #{rest.first}" unless rest.empty?
      end

      def say(lines)
        @out.puts(*lines)
        OK
      end

      # What people read, or what machines do.
      def tell(machines, *people)
        say(@json ? [JSON.generate(machines)] : people)
      end

      # "--last=5m" as "--last 5m": a parser that requires exact names knows the one form only.
      def apart(arguments)
        arguments.flat_map { |each| each.match?(/\A--[a-z][a-z-]*=/) ? each.split("=", 2) : [each] }
      end
    end
  end
end
