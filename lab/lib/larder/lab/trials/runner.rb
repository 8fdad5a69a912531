# frozen_string_literal: true

# Runs the rounds of a trial: in each everything is tried once, in a random order that can be repeated, each in a
# fresh process. Servers run for as long as the rounds do.

require_relative "../clock"
require_relative "../environment"
require_relative "../gemfiles"
require_relative "../hosting"
require_relative "../scratch"
require_relative "../worker_process"
require_relative "results"

module Larder
  module Lab
    module Trials
      # One row in one table. name: of the row; group: what the table is about; job: for the worker; server: in Servers;
      # bundle: in Gemfiles, nil: that of the codecs; twin: the row that an A/A control repeats, nil: it is none
      Trial = Struct.new(:name, :group, :job, :server, :bundle, :twin, keyword_init: true)

      # What is run. seconds: of a block, at least; titles: of groups
      Plan = Struct.new(:kind, :trials, :titles, :rounds, :seconds, :seed, :urls, keyword_init: true) do
        # @return [Array<String>]
        def groups
          trials.map(&:group).uniq
        end

        # @return [Array<String>] rows of a table
        def names(group)
          trials.select { |trial| trial.group == group && !trial.twin }.map(&:name)
        end

        # @return [Array(String, String), nil] the row that is tried twice, as it is called the second time and the
        #   first; nil: none
        def twins(group)
          trials.find { |trial| trial.group == group && trial.twin }&.then { |trial| [trial.name, trial.twin] }
        end
      end

      # Runs a plan.
      class Runner
        include Clock

        SCRIPT = File.expand_path("worker.rb", __dir__)
        TIMEOUT_SECONDS = 300
        # Of a process, before it measures.
        START_SECONDS = 0.8
        # Blocks of a process, by the kind of trial.
        BLOCKS = { "compressors" => 3, "serializers" => 3, "strategies" => 2, "cells" => 8,
                   "nature" => 0, "parts" => 14, "store_calls" => 6, "pasted" => 2 }.freeze
        private_constant :START_SECONDS, :BLOCKS

        # @param plan [Plan]
        # @param progress [Progress]
        def initialize(plan, progress:)
          @plan = plan
          @progress = progress
          @hosts = {}
        end

        # @return [Results]
        def run
          started = now
          Scratch.open(nil) do |scratch|
            @scratch = scratch
            @results = Results.new(@plan, Environment.facts(scratch.path))
            rounds
          ensure
            @hosts.each_value { |host| host.stop if host.is_a?(Hosting) }
          end
          @results.elapsed = now - started
          @results
        ensure
          @progress.finish
        end

        private

        def rounds
          random = Random.new(@plan.seed)
          @progress.start("Measuring", @plan.trials.size * @plan.rounds,
                          seconds: @plan.trials.size * @plan.rounds * expected)
          (1..@plan.rounds).each do |round|
            @plan.trials.shuffle(random: random).each { |trial| try(trial, round) }
          end
        end

        def try(trial, round)
          @progress.step("round #{round}/#{@plan.rounds}: #{trial.name}, #{trial.group}", seconds: expected)
          return if @results.reason(trial.name, trial.group)

          job = { kind: @plan.kind, seconds: @plan.seconds, endpoint: endpoint(trial.server), kept: kept(trial),
                  **trial.job }
          versions = @scratch.directory { |dir| @hosts[trial.server].attend { work(trial, round, job, dir) } }
          @results.versions.merge!(versions)
        rescue Unavailable, Invalid => error
          reject(trial, error)
        rescue Errno::ENOSPC, Errno::EDQUOT
          reject(trial, Unavailable.new("no space is left in #{@scratch.path}; TMPDIR=DIR takes another directory"))
        end

        # Said once while it runs; the report says it of every row.
        def reject(trial, error)
          @results.reject(trial.name, trial.group, error)
          @progress.note("#{trial.name}, #{trial.group}: #{error.message}") unless @said == error.message
          @said = error.message
        end

        # Seconds of a process, as a first guess: it starts, makes its payload, and runs its blocks.
        def expected
          START_SECONDS + (BLOCKS.fetch(@plan.kind) * @plan.seconds * 1.5)
        end

        # File for the payload in bytes, which the first process makes for all.
        def kept(trial)
          File.join(@scratch.path, "payload-#{@plan.groups.index(trial.group)}")
        end

        # @return [Hash{String => String}] versions of gems
        def work(trial, round, job, dir)
          log = File.join(@scratch.path, "#{trial.name.tr("^A-Za-z0-9_.-", "-")}.log")
          process = WorkerProcess.new(job, dir: dir, log: log, timeout: TIMEOUT_SECONDS, script: SCRIPT,
                                         gemfile: Gemfiles.path(trial.bundle || Gemfiles::CODECS))
          process.run { |event| @results.add(trial.name, trial.group, round, event) }.fetch("versions")
        end

        def endpoint(name)
          host = @hosts[name] ||= host(name)
          raise host if host.is_a?(Unavailable)

          host.endpoint
        end

        # Where the server is, or why there is none.
        def host(name)
          Hosting.new(name, File.join(@scratch.path, "#{name}-server"), @plan.urls || {})
        rescue Unavailable => error
          error
        end
      end
    end
  end
end
