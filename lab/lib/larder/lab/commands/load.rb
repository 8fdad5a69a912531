# frozen_string_literal: true

require_relative "command"
require_relative "../loads/rounds"

module Larder
  module Lab
    module Commands
      # What `latency`, `scaling`, `soak` and `stampede` have in common. A subclass says its OPTIONS and REPORT.
      class Load < Command
        # @param arguments [Array<String>]
        # @return [Loads::Options]
        # @raise [UsageError]
        def options_for(arguments)
          self.class::OPTIONS.parse(arguments)
        end

        # @param options [Loads::Options]
        # @return [Document::Chapter]
        def chapter(options)
          results = Loads::Rounds.new(options.plan, progress: Progress.new(@err)).run
          self.class::REPORT.new(results).to_chapter
        end
      end
    end
  end
end
