# frozen_string_literal: true

require_relative "command"
require_relative "suite_options"
require_relative "../bench/conductor"
require_relative "../progress"
require_relative "../suite_report/chapter"

module Larder
  module Lab
    module Commands
      # A command that runs SUITES and makes a chapter of the report of each. BANNER begins its --help.
      class Suite < Command
        # @param arguments [Array<String>]
        # @return [SuiteOptions]
        # @raise [UsageError]
        def options_for(arguments)
          SuiteOptions.new(self.class::SUITES, self.class::BANNER).parse(arguments)
        end

        # @param options [SuiteOptions]
        # @return [Document::Chapter] of the first suite
        def chapter(options)
          chapter_of(options.plans.first, options)
        end

        private

        def findings(options, started)
          document(options.plans.map { |plan| watch(options) { chapter_of(plan, options) } }, started)
        end

        # The load of the machine is that before the first suite: the others begin with the load of the lab itself.
        def chapter_of(plan, options)
          @before ||= Environment.facts(plan.directory || Dir.tmpdir)
          samples = Bench::Samples.new
          conductor = Bench::Conductor.new(plan, samples, progress: Progress.new(@err))
          conductor.run
          SuiteReport::Chapter.new(conductor, plan, samples, environment: @before, base: options.base).to_chapter
        end
      end
    end
  end
end
