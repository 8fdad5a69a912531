# frozen_string_literal: true

require_relative "command"
require_relative "../session_stats/options"
require_relative "../session_stats/report"
require_relative "../session_stats/rounds"

module Larder
  module Lab
    module Commands
      # `larder-lab session-stats`: what questions about sessions cost.
      class SessionStats < Command
        NAME = "session-stats"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "time of queries such as active sessions or who is logged in, in Larder and in SQL"

        # @param arguments [Array<String>]
        # @return [Lab::SessionStats::Options]
        # @raise [UsageError]
        def options_for(arguments)
          Lab::SessionStats::Options.parse(arguments)
        end

        # @param options [Lab::SessionStats::Options]
        # @return [Document::Chapter]
        def chapter(options)
          results = Lab::SessionStats::Rounds.new(options.plan, progress: Progress.new(@err)).run
          Lab::SessionStats::Report.new(results).to_chapter
        end
      end
    end
  end
end
