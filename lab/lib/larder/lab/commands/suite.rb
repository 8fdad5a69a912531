# frozen_string_literal: true

require_relative "command"
require_relative "suite_options"
require_relative "../bench/conductor"
require_relative "../suite_report/chapter"

module Larder
  module Lab
    module Commands
      # A command that runs SUITES and makes a chapter of the report of each. BANNER begins its --help. A run that is
      # stopped is continued by another one, which has its options and measures the sessions that are missing.
      class Suite < Command
        include SuiteOptions

        # Facts of {Environment} that must be the same where a run is continued.
        PLACE = %i[ruby yjit kernel cpu cores file_system].freeze
        private_constant :PLACE

        # Makes a command of `suites`, names in {Suites}. `summary` is a line for `larder-lab --help`, and `about` has
        # the lines of its own --help after the first.
        def self.of(name, summary, about, suites)
          file = "[FILE] " if Suites.fetch(suites.first).declared.any?(&:file)
          Class.new(self) do
            const_set(:SUITES, suites.freeze)
            const_set(:BANNER, "Usage: larder-lab #{name} #{file}[options]\n\n#{about}")
            named(name, summary)
          end
        end

        def run(arguments)
          code = super
        ensure
          @err.puts("larder-lab: #{kept}") if @journal && code.nil?
          @journal.remove if @journal && code && code < CLI::SIGNALLED
        end

        # That of the first suite.
        def chapter = chapter_of(plans.first)

        protected

        # Goes on with a run that has these options. Sessions of another machine, Ruby or plan do not belong to it.
        def check(path, run)
          here = description
          name = here.keys.find { |key| here[key] != run[key] } or return
          raise UsageError, "--continue #{path}: the #{name} of its run: #{run[name] || "unknown"}; here: " \
                            "#{here[name]}; start a new run without --continue"
        end

        def continue(journal)
          @journal = journal
          @line = journal.run["line"]
          act
        end

        private

        # A run is continued by a command with the options of that run.
        def act
          return super unless @continued

          check_alone
          stopped = Bench::Journal.open(@continued)
          again = Commands.fetch(stopped.run["command"]).new(@out, @err)
          again.parse([*stopped.run["arguments"], *output_arguments])
          again.check(@continued, stopped.run)
          again.continue(@journal = stopped)
        end

        # The facts that are the same in all sessions of a run.
        def description
          facts = Environment.facts(@directory || Dir.tmpdir)
          plans.inject({ "version" => VERSION, **facts.slice(*PLACE).transform_keys(&:to_s) }) do |all, plan|
            { **all, "seed" => plan.seed, "sessions" => plan.sessions,
              "rows in #{plan.suite.key}" => plan.rows.join(","),
              "blocks in #{plan.suite.key}" => plan.blocks.map(&:key).join(",") }
          end
        end

        def kept
          path = @journal&.path or return super
          "no report was written; continue by: larder-lab #{self.class::NAME} --continue #{path}"
        end

        def findings(started)
          @journal ||= Bench::Journal.new({ "command" => self.class::NAME, "arguments" => arguments, "line" => @line,
                                            **description })
          document(plans.map.with_index(1) do |plan, done|
            later = plans.drop(done).sum { |other| other.limit_seconds.to_f }
            watched { chapter_of(plan, later: later) }
          end, started)
        end

        # The load of the machine is that before the first suite: the others begin with the load of the lab itself. They
        # will take `later` seconds afterwards.
        def chapter_of(plan, later: 0.0)
          @before ||= Environment.facts(@directory || Dir.tmpdir)
          samples = Bench::Samples.new
          conductor = Bench::Conductor.new(plan, samples, progress: Progress.new(@err), journal: @journal,
                                                       later: later)
          conductor.run
          report([conductor, plan, samples], @before).to_chapter
        end

        # `run` has a conductor, a plan and samples.
        def report(run, environment)
          chapter = run[1].suite.chapter&.call || SuiteReport::Chapter
          chapter.new(*run, environment: environment, base: base)
        end
      end

      Suites.names.map { |name| Suites.fetch(name) }.each { |suite| Suite.of(*suite.command, [suite.key]) }

      # Time of `bin/lab` with all servers, once gems are installed; both README files and bin/lab say the same.
      DURATION = "six minutes"

      # `larder-lab overview`: two suites in one report; `bin/lab` runs it.
      Suite.of("overview", "applications, then stores, in one report: #{DURATION}", <<~TEXT,
        Runs the commands applications and stores into one report: whole pages,
        fragments, records, JSON and counters, then the published comparison of Rails
        cache stores.
      TEXT
               %w[applications published-a])
    end
  end
end
