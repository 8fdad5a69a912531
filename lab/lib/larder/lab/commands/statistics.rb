# frozen_string_literal: true

require_relative "command"
require_relative "../census/options"
require_relative "../census/report"
require_relative "../census/rounds"

module Larder
  module Lab
    module Commands
      # `larder-lab statistics`: what questions about sessions cost.
      class SessionStatistics < Command
        NAME = "statistics"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "how many sessions are active, who is logged in: what it costs to ask, in Larder and in SQL"

        # @param arguments [Array<String>]
        # @return [Census::Options]
        # @raise [UsageError]
        def options_for(arguments)
          Census::Options.parse(arguments)
        end

        # @param options [Census::Options]
        # @return [Document::Chapter]
        def chapter(options)
          results = Census::Rounds.new(options.plan, progress: Progress.new(@err)).run
          Census::Report.new(results).to_chapter
        end
      end
    end
  end
end
