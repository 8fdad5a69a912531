# frozen_string_literal: true

require_relative "command"
require_relative "../network/chapter"
require_relative "../network/options"
require_relative "../network/runner"

module Larder
  module Lab
    module Commands
      # `larder-lab network`: what round-trip time and bandwidth do to each store and codec.
      class Network < Command
        NAME = "network"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "effect of round-trip time and bandwidth on stores and codecs"

        # @param arguments [Array<String>]
        # @return [Lab::Network::Options]
        # @raise [UsageError]
        def options_for(arguments)
          Lab::Network::Options.parse(arguments)
        end

        # @param options [Lab::Network::Options]
        # @return [Document::Chapter]
        def chapter(options)
          results = Lab::Network::Runner.new(options.plan, progress: Progress.new(@err)).run
          Lab::Network::Chapter.new(results).to_chapter
        end
      end
    end
  end
end
