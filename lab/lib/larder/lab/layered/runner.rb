# frozen_string_literal: true

# Runs the visits of `larder-lab layered`, each in fresh processes, one after the other.

require_relative "../environment"
require_relative "../scratch"
require_relative "../worker_process"
require_relative "jobs"
require_relative "places"
require_relative "results"

module Larder
  module Lab
    module Layered
      # Runs a plan.
      class Runner
        SCRIPT = File.expand_path("worker.rb", __dir__)
        # Seconds after which a visit counts as hung.
        PATIENCE = 120

        # @param plan [Plan]
        # @param progress [Progress]
        def initialize(plan, progress:)
          @plan = plan
          @progress = progress
        end

        # @param tasks [Array<Task>]
        # @return [Results]
        def run(tasks = @plan.tasks)
          Scratch.open(@plan.directory) do |scratch|
            @scratch = scratch
            @results = Results.new(@plan, Environment.facts(scratch.path))
            places = Places.new(@plan, scratch.path)
            visits(tasks, places, Jobs.new(@plan, places))
            @results.versions.merge!(places.versions)
          ensure
            places&.stop
          end
          @results
        ensure
          @progress.finish
        end

        private

        def visits(tasks, places, jobs)
          @progress.start("measuring", tasks.size, seconds: tasks.sum { |task| jobs.seconds(task) },
                                                   nouns: %w[visit visits])
          tasks.each do |task|
            @progress.step(task.to_s, seconds: jobs.seconds(task))
            visit(task, places, jobs) unless @results.reason(task)
          end
        end

        def visit(task, places, jobs)
          @scratch.directory do |dir|
            job = jobs.job(task, dir)
            found = places.attend(task.remote) { process(job, dir).run { nil } }.fetch("found")
            @results.add(task, found)
          end
        rescue Unavailable, Invalid, SystemCallError => error
          @results.reject(task, error)
          @progress.note("#{task}: #{error.is_a?(Invalid) ? "invalid" : "not measured"}: #{error.message}")
        end

        def process(job, dir)
          WorkerProcess.new(job, dir: dir, log: File.join(@scratch.path, "worker.log"), timeout: PATIENCE,
                                 script: SCRIPT)
        end
      end
    end
  end
end
