# frozen_string_literal: true

# The program `larder`. It needs the standard library and Larder alone: no Rails, no application.

require_relative "../larder"
require_relative "cli/commands"
require_relative "cli/program"

module Larder
  # The command line: what `larder`, `larder-lab` and the tools of this repository share, and the commands of `larder`.
  module CLI
    # @param arguments [Array<String>]
    # @param settings [Hash] see {Program#initialize}
    # @return [Integer] exit code
    def self.run(arguments, **settings)
      Program.new("larder", version: VERSION, about: "larder manages the files of Larder's caches and sessions.",
                            commands: Commands, settings: settings).run(arguments)
    end
  end
end
