# frozen_string_literal: true

require_relative "command"
require_relative "suite_options"
require_relative "../bench/conductor"
require_relative "../suite_report/chapter"

module Larder
  module Lab
    module Commands
      # A command that runs SUITES and makes a chapter of the report of each. BANNER begins its --help.
      class Suite < Command
        include SuiteOptions

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

        # That of the first suite.
        def chapter = chapter_of(plans.first)

        private

        def findings(started) = document(plans.map { |plan| watched { chapter_of(plan) } }, started)

        # The load of the machine is that before the first suite: the others begin with the load of the lab itself.
        def chapter_of(plan)
          @before ||= Environment.facts(@directory || Dir.tmpdir)
          samples = Bench::Samples.new
          conductor = Bench::Conductor.new(plan, samples, progress: Progress.new(@err))
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
