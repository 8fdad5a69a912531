# frozen_string_literal: true

# The base of commands about a file of a cache or of sessions.

require_relative "../bytes/application"
require_relative "../bytes/obstacle"
require_relative "../bytes/remedy"
require "json"
require_relative "command"
require_relative "default_file"
require_relative "inspection"

module Larder
  module CLI
    # Finds the file, tells why it cannot be used, and answers in words or in JSON.
    class FileCommand < Command
      # @param streams [Array] see {Command#initialize}
      # @param files [#find] finds the file if no argument names it, see {DefaultFile#find}
      def initialize(*streams, files: DefaultFile.new)
        super(*streams)
        @files = files
      end

      private

      # The file if there is no argument. Says on the error output if it is not the one of the environment.
      #
      # @param variable [String] of the environment
      # @param name [String] of the file in the directory of an environment
      # @param kind [String] what such a file is called
      # @return [String]
      # @raise [UsageError, Failure]
      def file_of(variable, name, kind)
        path, @named_by, notice = @files.find(variable, name, kind)
        @err.puts(notice, style: :dim) if notice
        path
      end

      # The message of a missing file: where it was looked for, why there, and which files are near.
      #
      # @param path [String]
      # @param remedy [String] a sentence
      # @param name [String] of such a file in the directory of an environment
      # @raise [Failure]
      # @raise [UsageError] no file can have the path
      def no_file(path, remedy, name)
        wrong = Application.objection(path)
        raise UsageError, wrong if wrong

        absolute = File.absolute_path(path)
        obstacle = unseen(absolute)
        raise Failure, "cannot see whether there is a file #{path}: #{obstacle}" if obstacle

        place = " in #{Remedy.shown(Dir.pwd)}" unless path.start_with?("/")
        reason = " (#{@named_by})" if @named_by
        start = "there is no file #{Remedy.shown(path)}#{place}#{reason}."
        raise Failure, [start, *near(absolute, name), remedy].join(" ")
      end

      # @return [String, nil] why this process does not see the files of the path's directory
      def unseen(path)
        File.lstat(path)
        nil
      rescue Errno::ENOENT
        nil
      rescue SystemCallError => error
        Obstacle.at(path) || error.message
      end

      # @return [Array<String>] sentences
      def near(path, name)
        environments = named? ? [] : DefaultFile.new.environments(name).map { |file| Remedy.shown(file) }
        directory = Dir.exist?(path) ? path : File.dirname(path)
        others = Dir.glob("*.larder", base: directory).sort
                    .map { |file| File.join(Remedy.shown(directory), Remedy.shown(file)) }
        choice = ": set $RAILS_ENV" unless Application.named_environment
        [("There is #{environments.join(", ")}#{choice}." if environments.any?),
         ("Next to it there is #{others.join(", ")}." if others.any?)].compact
      end

      # True if an argument or a variable names the path.
      def named?
        @named_by.nil? || @named_by.start_with?("$")
      end

      # The message for a file of another user: it names the user who can run the command.
      #
      # @param path [String]
      # @param command [String] of larder, to be run as the owner
      # @param who [String] who runs the application, in the words of the sentence
      # @raise [Failure]
      def foreign(path, command, who: "who")
        owner = File.stat(path).uid
        raise Failure, "#{path} belongs to #{Remedy.user(owner)}, #{who} runs the application: " \
                       "#{Remedy.as_user(owner, "larder #{command}")}"
      end

      # @param json [Boolean] does the command answer in JSON?
      def explained(banner, footer = nil, json: true)
        super(banner, footer) do |options|
          options.separator("\nOptions:")
          yield options
          options.on("--json", json_help) { @json = true } if json
        end
      end

      def json_help
        "print one line of JSON"
      end

      # @param machines [Hash] what --json prints
      # @param people [Array<String>] the lines otherwise
      def tell(machines, *people)
        return say(people) unless @json

        texts = machines.transform_values { |value| value.is_a?(String) ? Remedy.shown(value) : value } # as of paths
        say([JSON.generate(texts, ascii_only: true)])
      end
    end
  end
end
