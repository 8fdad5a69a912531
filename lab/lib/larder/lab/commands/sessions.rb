# frozen_string_literal: true

require_relative "command"
require_relative "../sessions/options"
require_relative "../sessions/report"
require_relative "../sessions/rounds"

module Larder
  module Lab
    module Commands
      # `larder-lab sessions`: the published comparison of session stores.
      class Sessions < Command
        NAME = "sessions"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "what sessions in Larder, SQL, memcached, Redis, files or cookies add to a request"

        # @param arguments [Array<String>]
        # @return [Lab::Sessions::Options]
        # @raise [UsageError]
        def options_for(arguments)
          Lab::Sessions::Options.parse(arguments)
        end

        # @param options [Lab::Sessions::Options]
        # @return [Document::Chapter]
        def chapter(options)
          results = Lab::Sessions::Rounds.new(options.plan, progress: Progress.new(@err)).run
          Lab::Sessions::Report.new(results).to_chapter
        end
      end
    end
  end
end
