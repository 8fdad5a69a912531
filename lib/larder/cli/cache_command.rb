# frozen_string_literal: true

# The base of the commands for a cache file: finds the file and opens it. No command creates, replaces or marks a file
# that the application did not create.

require_relative "../sessions/settings"
require_relative "file_command"

module Larder
  module CLI
    # A command that takes PATH.
    class CacheCommand < FileCommand
      # Names the file where no PATH does.
      VARIABLE = "LARDER_PATH"
      # What it is called where nobody names it.
      NAME_OF_FILE = "cache.larder"
      # What `--help` says of PATH.
      PATH_HELP = <<~TEXT
        PATH is the cache's file. Without one it is $LARDER_PATH or, in an application's
        directory or below, storage/larder/<environment>/cache.larder. The environment
        is $RAILS_ENV, $RACK_ENV or development; if no variable names it, another
        environment's file is used where it is the only one.
      TEXT

      private

      # The words beside the options: a path, and what the command takes after it.
      def operands(rest)
        raise UsageError, "unexpected argument #{rest[1]}" if rest.size > 1

        @path = rest.first
      end

      def path
        @path ||= file_of(VARIABLE, NAME_OF_FILE, "cache")
      end

      # @yieldparam cache [Cache] closed when the block ends
      # @return [Object] the block's
      # @raise [Failure, OpenError]
      def visit(create: false, &block)
        there
        Cache.open(path, create: create, &block)
      end

      # Does the file hold an application's sessions?
      def sessions?(cache)
        !::Larder::Sessions::Settings.read(cache).nil?
      end

      # Emptying it would sign everybody out.
      def refuse_sessions(cache, wanted)
        return unless sessions?(cache)

        raise Failure, "#{path} holds an application's sessions, and emptying it signs everybody out; #{wanted}"
      end

      def there
        missing unless File.exist?(path)
        foreign(path, usual_line) unless Obstacle.usable?(path)
      end

      # The command line that names the file, for remedies.
      def usual_line
        "#{self.class::NAME} #{Remedy.quoted(path)}"
      end

      def missing
        no_file(path, "Name the cache's file, or go to the application's directory; its application creates it at " \
                      "its first use", NAME_OF_FILE)
      end
    end
  end
end
