# frozen_string_literal: true

require_relative "command"
require_relative "stores_options"
require_relative "../comparison"
require_relative "../progress"
require_relative "../runner"
require_relative "../stores_report/chapter"

module Larder
  module Lab
    module Commands
      # `larder-lab stores`: the published comparison of cache stores, as published and corrected.
      class Stores < Command
        NAME = "stores"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "time of Rails.cache.fetch on every store: misses, hits, writes, one thread and several"

        # @param arguments [Array<String>]
        # @return [StoresOptions]
        # @raise [UsageError]
        def options_for(arguments)
          StoresOptions.parse(arguments)
        end

        # @param options [StoresOptions]
        # @return [Document::Chapter]
        def chapter(options)
          results = Runner.new(options.settings, progress: Progress.new(@err)).run
          StoresReport::Chapter.new(results, Comparison.new(results)).to_chapter
        end
      end
    end
  end
end
