# frozen_string_literal: true

require "larder/cli/program"
require_relative "lab/commands"
require_relative "lab/version"
require_relative "lab/yjit"

module Larder
  # The comparison of cache stores, codecs and session stores, and its program `larder-lab`. The stores themselves are
  # loaded only in worker processes.
  module Lab
    # @param streams [Hash] see {CLI::Program#run}
    # @return [Integer] exit code
    def self.run(arguments, **streams)
      Yjit.enable
      about = "larder-lab compares cache stores, codecs and session stores of Rails on this machine."
      CLI::Program.new("larder-lab", version: VERSION, about: about, commands: Commands)
                  .run(arguments, **streams)
    end
  end
end
