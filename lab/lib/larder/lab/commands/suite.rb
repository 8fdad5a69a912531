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
        # Facts of {Environment} that must be the same where a run is continued.
        PLACE = %i[ruby yjit kernel cpu cores file_system].freeze
        private_constant :PLACE

        # @param suite [Bench::Suite] that declares a command
        # @return [Class] the command
        def self.of(suite)
          name, summary, about = suite.command
          Class.new(self) do
            const_set(:NAME, name)
            const_set(:SUMMARY, summary)
            const_set(:SUITES, [suite.key].freeze)
            file = "[FILE] " if suite.declared.any?(&:file)
            const_set(:BANNER, "Usage: larder-lab #{name} #{file}[options]\n\n#{about}")
          end
        end

        # @param arguments [Array<String>]
        # @return [SuiteOptions]
        # @raise [UsageError]
        def options_for(arguments)
          options = parsed(arguments)
          return options if options.continued.nil? || options.help? || options.list?

          @stopped = Bench::Journal.open(options.continued)
          @line = @stopped.run["line"]
          continued(options, @stopped.run)
        end

        # @param arguments [Array<String>]
        # @return [Integer] exit code
        # @raise [UsageError]
        def run(arguments)
          code = super
        ensure
          @err.puts("larder-lab: #{kept}") if @journal && code.nil?
          @journal.remove if @journal && code && code < CLI::SIGNALLED
        end

        # @param options [SuiteOptions]
        # @return [Document::Chapter] of the first suite
        def chapter(options)
          chapter_of(options.plans.first, options)
        end

        private

        def parsed(arguments)
          SuiteOptions.new(self.class::SUITES, self.class::BANNER).parse(arguments)
        end

        # The options of a stopped run, if it is the same run here.
        def continued(options, run)
          unless run["command"] == self.class::NAME
            raise UsageError, "--continue #{options.continued}: it is a run of #{run["command"]}; continue it by " \
                              "larder-lab #{run["command"]} --continue #{options.continued}"
          end

          options.check_against(run["arguments"])
          parsed([*run["arguments"], *options.output_arguments]).tap { |stored| check(options.continued, run, stored) }
        end

        # Sessions of another machine, Ruby or plan do not belong to this run.
        def check(path, run, options)
          here = description(options)
          name = here.keys.find { |key| here[key] != run[key] } or return
          raise UsageError, "--continue #{path}: the #{name} of its run: #{run[name] || "unknown"}; here: " \
                            "#{here[name]}; start a new run without --continue"
        end

        # The facts that are the same in all sessions of a run.
        def description(options)
          facts = Environment.facts(options.plans.first.directory || Dir.tmpdir)
          options.plans.inject({ "version" => VERSION, **facts.slice(*PLACE).transform_keys(&:to_s) }) do |all, plan|
            { **all, "seed" => plan.seed, "sessions" => plan.sessions,
              "rows in #{plan.suite.key}" => plan.rows.join(","),
              "blocks in #{plan.suite.key}" => plan.blocks.map(&:key).join(",") }
          end
        end

        def kept
          path = @journal&.path or return super
          "no report was written; continue by: larder-lab #{self.class::NAME} --continue #{path}"
        end

        def findings(options, started)
          @journal = @stopped || Bench::Journal.new({ "command" => self.class::NAME, "arguments" => options.arguments,
                                                      "line" => @line, **description(options) })
          document(options.plans.map.with_index(1) do |plan, done|
            later = options.plans.drop(done).sum { |other| other.limit_seconds.to_f }
            watch(options) { chapter_of(plan, options, later: later) }
          end, started)
        end

        # The load of the machine is that before the first suite: the others begin with the load of the lab itself.
        # @param later [Float] seconds that other suites will take afterwards
        def chapter_of(plan, options, later: 0.0)
          @before ||= Environment.facts(plan.directory || Dir.tmpdir)
          samples = Bench::Samples.new
          conductor = Bench::Conductor.new(plan, samples, progress: Progress.new(@err), journal: @journal,
                                                       later: later)
          conductor.run
          report([conductor, plan, samples], options, @before).to_chapter
        end

        # @param run [Array] conductor, plan and samples
        # @return [SuiteReport::Chapter]
        def report(run, options, environment)
          type = run[1].suite.chapter&.call || SuiteReport::Chapter
          type.new(*run, environment: environment, base: options.base)
        end
      end
    end
  end
end
