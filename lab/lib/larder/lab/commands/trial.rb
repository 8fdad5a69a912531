# frozen_string_literal: true

require_relative "command"
require_relative "../progress"
require_relative "../trials/options"
require_relative "../trials/runner"

module Larder
  module Lab
    module Commands
      # What the commands that try codecs have in common. A subclass says its KIND of trial, BANNER, ALL codecs,
      # PAYLOADS, MODES and CHAPTER.
      class Trial < Command
        # What a subclass may say otherwise.
        OPTIONS = Trials::Options

        # @param arguments [Array<String>]
        # @return [Trials::Options]
        # @raise [UsageError]
        def options_for(arguments)
          type = self.class
          type::OPTIONS.new(type::KIND, type::BANNER, type::ALL, type::PAYLOADS, type::MODES).parse(arguments)
        end

        # @param options [Trials::Options]
        # @return [Document::Chapter]
        def chapter(options)
          results = Trials::Runner.new(options.plan, progress: Progress.new(@err)).run
          self.class::CHAPTER.new(results).to_chapter
        end
      end
    end
  end
end
