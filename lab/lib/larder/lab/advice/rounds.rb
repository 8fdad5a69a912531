# frozen_string_literal: true

# Runs the rounds that an advice is made of: in each everything is tried once, in a random order that can be repeated,
# each in a fresh process. Servers run for as long as the rounds do.

require_relative "../clock"
require_relative "../environment"
require_relative "../gemfiles"
require_relative "../hosting"
require_relative "../scratch"
require_relative "../worker_process"

module Larder
  module Lab
    module Advice
      # Trials in rounds.
      class Rounds
        include Clock

        # A row. job: for the worker; server: in Servers; bundle: in Gemfiles
        Trial = Struct.new(:name, :job, :server, :bundle, keyword_init: true)
        # The plan of a run. kind: in {Kinds}; seconds: of a block, at least
        Plan = Struct.new(:kind, :trials, :rounds, :seconds, :seed, keyword_init: true) do
          # @return [Array<String>]
          def names
            trials.map(&:name)
          end
        end

        # Samples by trial, operation and round, and why some are missing.
        class Results
          # seconds: of one call
          Sample = Struct.new(:name, :round, :operation, :seconds, keyword_init: true)

          # @return [Plan]
          attr_reader :plan
          # @return [Hash{Symbol => Object}]
          attr_reader :environment
          # @return [Array<Sample>]
          attr_reader :samples
          # @return [Hash{String => String}] of gems
          attr_reader :versions
          # @return [Hash{String => Unavailable, Invalid}] why trials were not measured, by name
          attr_reader :rejected

          # @param plan [Plan]
          # @param environment [Hash{Symbol=>Object}]
          def initialize(plan, environment)
            @plan = plan
            @environment = environment
            @samples = []
            @facts = {}
            @rejected = {}
            @versions = {}
          end

          # @param event [Hash{String => Object}] of a worker
          # @return [void]
          def add(name, round, event)
            return @facts[name] = event.except("event") if event["event"] == "facts"

            @samples << Sample.new(name: name, round: round, operation: event["operation"],
                                   seconds: event["seconds"] / event["calls"])
          end

          # Forgets what was measured: a wrong value voids the row.
          # @return [void]
          def reject(name, error)
            @rejected[name] = error
            @samples.reject! { |sample| sample.name == name }
          end

          # @return [Hash{String => Object}, nil] what else a worker found out
          def facts(name)
            @facts[name]
          end

          # @return [Array<Float>] seconds of one call, by round
          def seconds(name, operation)
            @samples.select { |sample| sample.name == name && sample.operation == operation }
                    .sort_by(&:round).map(&:seconds)
          end
        end

        SCRIPT = File.expand_path("worker.rb", __dir__)
        TIMEOUT_SECONDS = 300

        # @param plan [Plan]
        # @param progress [Progress]
        def initialize(plan, progress:)
          @plan = plan
          @progress = progress
          @hosts = {}
        end

        # @return [Results]
        def run
          Scratch.open(nil) do |scratch|
            @scratch = scratch
            @results = Results.new(@plan, Environment.facts(scratch.path))
            rounds
          ensure
            @hosts.each_value { |host| host.stop if host.is_a?(Hosting) }
          end
          @results
        ensure
          @progress.finish
        end

        private

        def rounds
          random = Random.new(@plan.seed)
          @progress.start("Measuring", @plan.trials.size * @plan.rounds)
          (1..@plan.rounds).each do |round|
            @plan.trials.shuffle(random: random).each { |trial| try(trial, round) }
          end
        end

        def try(trial, round)
          @progress.step("round #{round}/#{@plan.rounds}: #{trial.name}")
          return if @results.rejected[trial.name]

          job = { kind: @plan.kind, seconds: @plan.seconds, endpoint: endpoint(trial.server), **trial.job }
          versions = @scratch.directory { |dir| @hosts[trial.server].attend { work(trial, round, job, dir) } }
          @results.versions.merge!(versions)
        rescue Unavailable, Invalid => error
          reject(trial, error)
        rescue Errno::ENOSPC, Errno::EDQUOT
          reject(trial, Unavailable.new("no space is left in #{@scratch.path}; TMPDIR=DIR takes another directory"))
        end

        # Said once while it runs; the report says it of every row.
        def reject(trial, error)
          @results.reject(trial.name, error)
          @progress.note("#{trial.name}: #{error.message}") unless @said == error.message
          @said = error.message
        end

        # @return [Hash{String => String}] versions of gems
        def work(trial, round, job, dir)
          log = File.join(@scratch.path, "#{trial.name.tr("^A-Za-z0-9_.-", "-")}.log")
          process = WorkerProcess.new(job, dir: dir, log: log, timeout: TIMEOUT_SECONDS, script: SCRIPT,
                                         gemfile: Gemfiles.path(trial.bundle || Gemfiles::CODECS))
          process.run { |event| @results.add(trial.name, round, event) }.fetch("versions")
        end

        def endpoint(name)
          host = @hosts[name] ||= host(name)
          raise host if host.is_a?(Unavailable)

          host.endpoint
        end

        # Where the server is, or why there is none.
        def host(name)
          Hosting.new(name, File.join(@scratch.path, "#{name}-server"))
        rescue Unavailable => error
          error
        end
      end
    end
  end
end
