# frozen_string_literal: true

# The base of commands about a file of a cache or of sessions.

require_relative "../application"
require_relative "../obstacle"
require "json"
require_relative "command"
require_relative "words"

module Larder
  module CLI
    # Finds the file, tells why it cannot be used, and answers in words or in JSON.
    class FileCommand < Command
      private

      # The file that no argument names.
      def file_of(variable, name)
        Application.variable(variable) || Application.file(name)
      rescue ::ArgumentError => error
        raise UsageError, error.message
      end

      # A file of another user's: the message names the user who can run the command.
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

      def explained(banner, footer = nil)
        super do |options|
          options.separator("\nOptions:")
          yield options
          options.on("--json", "print one line of JSON") { @json = true }
        end
      end

      # @param machines [Hash] what --json prints
      # @param people [Array<String>] the lines otherwise
      def tell(machines, *people)
        say(@json ? [JSON.generate(machines)] : people)
      end
    end
  end
end
