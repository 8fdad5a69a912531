# frozen_string_literal: true

require_relative "command"
require_relative "../layered/chapter"
require_relative "../layered/model_chapter"
require_relative "../layered/options"
require_relative "../layered/runner"

module Larder
  module Lab
    module Commands
      # `larder-lab layered`: Larder in front of a store that several machines share, near and far.
      class Layered < Command
        NAME = "layered"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "Larder before a store that machines share: times near and far, age of answers, many machines"

        # @param arguments [Array<String>]
        # @return [Lab::Layered::Options]
        # @raise [UsageError]
        def options_for(arguments)
          Lab::Layered::Options.parse(arguments)
        end

        # @param options [Lab::Layered::Options]
        # @return [Document::Chapter]
        def chapter(options)
          return Lab::Layered::ModelChapter.new(options.plan.fleet).to_chapter if options.model?

          results = Lab::Layered::Runner.new(options.plan, progress: Progress.new(@err)).run
          Lab::Layered::Chapter.new(results).to_chapter
        end
      end
    end
  end
end
