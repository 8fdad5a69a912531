# frozen_string_literal: true

# Finds the file of a command if no argument names it: by a variable, by the environment, or because it is the only one.

require_relative "../bytes/application"
require_relative "errors"

module Larder
  module CLI
    # Finds the file in the application's directory, which is the working directory or the nearest one above it that has
    # one of {MARKS}.
    class DefaultFile
      # Files and directories that only an application's directory has.
      MARKS = ["config/application.rb", Application::DIRECTORY].freeze

      # @param variable [String] of the environment, which has precedence
      # @param name [String] of the file in the directory of an environment
      # @param kind [String] what such a file is called, in messages
      # @return [Array(String, String, String)] the path, which may not exist; why it is this one; and a sentence if the
      #   user may expect another, or nil
      # @raise [UsageError] the variable or the environment cannot name a file
      # @raise [Failure] there are several, and no environment is named
      def find(variable, name, kind)
        given = Application.variable(variable)
        return [shell_path(checked(given, variable)), "$#{variable} names it", nil] if given

        path = Application.file(name, base: base)
        chosen = others(path, name)
        raise Failure, several(chosen, variable, kind) if chosen.size > 1

        notice = "Using #{chosen.first}, the only #{kind} here." if chosen.any?
        [chosen.first || path, "the default of the environment #{Application.environment}", notice]
      rescue ::ArgumentError => error
        raise UsageError, error.message
      end

      # @param name [String]
      # @return [Array<String>] the files of this name in the directories of environments
      def environments(name)
        Dir.glob(File.join(Application::DIRECTORY, "*", name), base: base).sort.map { |path| File.join(*base, path) }
      end

      # @return [Boolean] is the working directory that of an application, or below one?
      def within_application?
        !base.nil? || application?(Dir.pwd)
      end

      # @param _path [String]
      # @return [Integer, nil] bytes that the application gives to a new file there; nil: not known here
      def size_of(_path); end

      private

      # As of an argument of the command.
      def checked(given, variable)
        return given if given.valid_encoding?

        raise UsageError, "$#{variable} must be valid UTF-8: #{given.scrub("?").inspect}"
      end

      # No shell has expanded it, as in a unit of systemd, and the store does.
      def shell_path(given)
        given.start_with?("~") ? Application.absolute(given) : given
      end

      # The files that are used if no variable names the environment and its default has no file.
      def others(path, name)
        return [] if Application.named_environment || File.exist?(path) || File.symlink?(path)

        environments(name)
      end

      def several(paths, variable, kind)
        "there are several here, and none of the environment #{Application.environment}: #{paths.join(", ")}. Set " \
          "$RAILS_ENV to choose an environment, or $#{variable} to name the #{kind}"
      end

      # @return [String, nil] the directory above that is the application's; nil: the working directory
      def base
        here = Dir.pwd
        found = here
        found = File.dirname(found) until application?(found) || found == "/"
        found if found != here && application?(found)
      rescue Errno::ENOENT # the working directory was removed
        nil
      end

      def application?(directory)
        MARKS.any? { |mark| File.exist?(File.join(directory, mark)) }
      end
    end
  end
end
