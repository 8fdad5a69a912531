# frozen_string_literal: true

# `larder sessions`: runs one of the commands in sessions/, `stat` if none is named.

require_relative "errors"
require_relative "registry"

module Larder
  module CLI
    # The commands about an application's sessions.
    class Sessions
      extend Registry
      holds "command"
      Commands.register("sessions", self)

      # One line for `larder --help`.
      SUMMARY = "shows and ends sessions"
      # The command where none is named.
      DEFAULT = "stat"
      private_constant :DEFAULT

      # @param streams [Array] see {Command#initialize}
      def initialize(*streams)
        @streams = streams
      end

      # @param arguments [Array<String>]
      # @return [Integer] exit code
      # @raise [UsageError]
      def run(arguments)
        name, *rest = arguments
        name, rest = DEFAULT, arguments if name.nil? || name.start_with?("-")
        self.class.fetch(name).new(*@streams).run(rest)
      end
    end
  end
end

require_relative "sessions/stat"
require_relative "sessions/logout"
require_relative "sessions/clear_anonymous"
