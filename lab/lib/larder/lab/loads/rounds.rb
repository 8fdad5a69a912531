# frozen_string_literal: true

# Runs the rounds of a command under load: in each round every row has its turn, in a random order that can be
# repeated, each in a fresh process with a fresh server and directory.

require_relative "../clock"
require_relative "../contenders"
require_relative "../environment"
require_relative "../gemfiles"
require_relative "../hosting"
require_relative "../scratch"
require_relative "../worker_process"
require_relative "results"

module Larder
  module Lab
    module Loads
      # Runs a plan.
      class Rounds
        include Clock

        SCRIPT = File.expand_path("worker.rb", __dir__)
        # A process that takes so many times as long as expected, and this many seconds more, hangs.
        TIMEOUT_FACTOR = 10
        TIMEOUT_SECONDS = 120

        # @param plan [Plan]
        # @param progress [Progress]
        def initialize(plan, progress:)
          @plan = plan
          @progress = progress
        end

        # @return [Results]
        def run
          @started = now
          Scratch.open(@plan.directory) do |scratch|
            @scratch = scratch
            @results = Results.new(@plan, Environment.facts(scratch.path))
            rounds
          end
          @results
        ensure
          @progress.finish
        end

        private

        def rounds
          rows = @results.rows
          random = Random.new(@plan.seed)
          @progress.start("measuring", rows.size * @plan.rounds, seconds: rows.size * @plan.rounds * @plan.seconds)
          (1..@plan.rounds).each do |round|
            break if out_of_time?(round)

            rows.shuffle(random: random).each_with_index { |row, position| visit(row, round, position) }
            @results.rounds = round
          end
        end

        # The next round is expected to take as long as those before.
        def out_of_time?(round)
          return false unless @plan.limit_seconds && round > @plan.least_rounds

          enough = (now - @started) * round / (round - 1) > @plan.limit_seconds
          @progress.note("stopped after round #{round - 1}: there is no time for more") if enough
          enough
        end

        def visit(row, round, position)
          @progress.step("round #{round}/#{@plan.rounds}: #{row.name}", seconds: @plan.seconds)
          return unless row.measured?

          place(row) { |dir| work(row, round, dir) { |event| keep(row, round, position, event) } }
        rescue Unavailable, SystemCallError => error
          turn_down(row, :unavailable, error)
        rescue Invalid => error
          turn_down(row, :invalid, error)
        end

        # A directory of the row's, for this visit.
        def place(_row, &block)
          @scratch.directory(&block)
        end

        def work(row, _round, dir, &block)
          type = Contenders.fetch(row.contender)
          Hosting.for(type, dir, @plan.urls, size: @plan.size) do |endpoint, server|
            row.server = server.recorded if server
            job = { load: @plan.load, contender: row.contender, requires: @plan.requires, dir: dir, endpoint: endpoint,
                    size: @plan.size, seed: @plan.seed, **@plan.settings }
            log = File.join(@scratch.path, "#{row.contender}.log")
            WorkerProcess.new(job, dir: dir, log: log, timeout: (@plan.seconds * TIMEOUT_FACTOR) + TIMEOUT_SECONDS,
                                   gemfile: Gemfiles.path(type.bundle), script: SCRIPT).run(&block)
          end
        end

        def keep(row, round, position, event)
          return @results.add(row, round, position, event) unless event["event"] == "ready"

          row.versions = event["versions"]
          row.options = event["options"]
        end

        def turn_down(row, state, error)
          @results.reject(row, state, error.message)
          @progress.note("#{row.name}: #{state == :invalid ? "invalid" : "not measured"}: #{error.message}")
        end
      end
    end
  end
end
