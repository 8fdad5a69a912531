# frozen_string_literal: true

# `larder man`: the path of the manual page, which RubyGems does not install where `man` looks for it.

require_relative "command"

module Larder
  module CLI
    # `larder man`: prints where the manual page is.
    class Man < Command
      # The name that users type.
      NAME = "man"
      # One line for `larder --help`.
      SUMMARY = "prints the path of the manual page, for man(1)"
      Commands.register(NAME, self)

      # The page, which the gem has.
      PAGE = File.expand_path("../../../man/larder.1", __dir__)
      BANNER = <<~TEXT
        Usage: larder man

        Prints the path of the manual page, which explains all commands. To read it:

          man "$(larder man)"
      TEXT
      private_constant :BANNER

      private

      def parser
        @parser ||= explained(BANNER) { |options| options.separator("\nOptions:") }
      end

      def act
        raise Failure, "there is no manual page #{PAGE}: install the gem again" unless File.exist?(PAGE)

        say([PAGE])
      end
    end
  end
end
