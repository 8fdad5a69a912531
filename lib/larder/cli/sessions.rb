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

      # @return [Class] the command where none is named
      def self.default
        fetch(DEFAULT)
      end

      # @param streams [Array] see {Command#initialize}
      # @param settings [Hash] see {FileCommand#initialize}
      def initialize(*streams, **settings)
        @streams = streams
        @settings = settings
      end

      # @param arguments [Array<String>]
      # @return [Integer] exit code
      # @raise [UsageError]
      def run(arguments)
        name, *rest = arguments
        name, rest = DEFAULT, arguments if name.nil? || name.start_with?("-")
        self.class.fetch(name).new(*@streams, **@settings).run(rest)
      end
    end
  end
end

require_relative "sessions/stat"
require_relative "sessions/logout"
require_relative "sessions/clear_anonymous"
