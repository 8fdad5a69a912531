# frozen_string_literal: true

# Owns `larder sessions`: which of its commands runs. A new one is one file in sessions/ and one line at the end of this
# file.

require_relative "errors"
require_relative "registry"

module Larder
  module CLI
    # What is known about an application's sessions, and ending them.
    class Sessions
      extend Registry
      Commands.register("sessions", self)

      # One line for `larder --help`.
      SUMMARY = "how many sessions there are, who is signed in, and ending sessions"
      # What is done where nothing else is named.
      USUAL = "figures"
      private_constant :USUAL

      # @param arguments [Array<String>]
      # @return [Array<String>] the command of these that they name
      def self.hint(arguments)
        arguments.first(1) & names
      end

      # @param where [Array] see {Command#initialize}
      def initialize(*where)
        @where = where
      end

      # @param arguments [Array<String>]
      # @return [Integer] exit code
      # @raise [UsageError]
      def run(arguments)
        name, *rest = arguments
        name, rest = USUAL, arguments if name.nil? || name.start_with?("-")
        self.class.fetch(name).new(*@where).run(rest)
      end
    end
  end
end

require_relative "sessions/figures"
require_relative "sessions/active"
require_relative "sessions/online"
require_relative "sessions/user"
require_relative "sessions/revoke"
require_relative "sessions/logout"
require_relative "sessions/clear_anonymous"
require_relative "sessions/recount"
