# frozen_string_literal: true

require_relative "command"
require_relative "../advice/interview"
require_relative "../advice/measuring"
require_relative "../advice/options"
require_relative "../advice/report"
require_relative "../advice/sections/published"

module Larder
  module Lab
    module Commands
      # `larder-lab advise`: which store, serializer and compressor to take.
      class Advise < Command
        Commands.register("advise", self)

        # One line for `larder-lab --help`.
        NAME = "advise"
        SUMMARY = "recommends a store, serializer and compressor for your value and network"

        # @param arguments [Array<String>]
        # @return [Advice::Options]
        # @raise [UsageError]
        def options_for(arguments)
          Advice::Options.new.parse(arguments)
        end

        # Asks, where there is somebody to answer.
        # @param arguments [Array<String>]
        # @return [Integer] exit code
        # @raise [UsageError]
        def run(arguments)
          @asking = true
          super
        end

        # @param options [Advice::Options]
        # @return [Document::Chapter]
        def chapter(options)
          return Advice::Sections::Published.new.chapter if options.published?

          interview(options) if @asking && !options.silent? && @input.tty? && @err.interactive?
          advise(options)
        end

        private

        def interview(options)
          Advice::Interview.new(@input, @err).run(options.question) { |field, text| options.check(field, text) }
        end

        def advise(options)
          measuring = Advice::Measuring.new(options, progress: Progress.new(@err))
          report = Advice::Report.new(options, measuring.parts)
          tried = measuring.pasted(report.configuration) if report.configuration&.tried?
          report.chapter(measuring.environment, tried)
        end
      end
    end
  end
end
