# frozen_string_literal: true

require_relative "command"
require_relative "../features/chapter"
require_relative "../features/options"
require_relative "../features/visit"
require_relative "../scratch"
require_relative "../visits"

module Larder
  module Lab
    module Commands
      # `larder-lab features`: what each store does, tested.
      class Features < Command
        NAME = "features"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "tests what each store can do: sharing, persistence, eviction, compression"
        # Seconds that a visit takes, by experience.
        ESTIMATE = { quick: 8.0, usual: 12.0 }.freeze

        # @param arguments [Array<String>]
        # @return [Lab::Features::Options]
        # @raise [UsageError]
        def options_for(arguments)
          Lab::Features::Options.parse(arguments)
        end

        # @param options [Lab::Features::Options]
        # @return [Document::Chapter]
        def chapter(options)
          Scratch.open(options.directory) do |scratch|
            facts = Environment.facts(scratch.path)
            rows = Visits.each(options.contenders, progress: Progress.new(@err), title: "asking the stores",
                                                   seconds: ESTIMATE[options.quick? ? :quick : :usual]) do |name|
              Lab::Features::Visit.new(name, options, scratch).run
            end
            Lab::Features::Chapter.new(rows, options, facts).to_chapter
          end
        end
      end
    end
  end
end
