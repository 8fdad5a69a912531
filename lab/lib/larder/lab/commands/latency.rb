# frozen_string_literal: true

require_relative "command"
require_relative "../latency/chapter"
require_relative "../latency/options"
require_relative "../latency/runner"

module Larder
  module Lab
    module Commands
      # `larder-lab latency`: what round-trip time and bandwidth do to each store and codec.
      class Latency < Command
        NAME = "latency"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "what round-trip time and bandwidth do to each store and codec"

        # @param arguments [Array<String>]
        # @return [Lab::Latency::Options]
        # @raise [UsageError]
        def options_for(arguments)
          Lab::Latency::Options.parse(arguments)
        end

        # @param options [Lab::Latency::Options]
        # @return [Document::Chapter]
        def chapter(options)
          results = Lab::Latency::Runner.new(options.plan, progress: Progress.new(@err)).run
          Lab::Latency::Chapter.new(results).to_chapter
        end
      end
    end
  end
end
