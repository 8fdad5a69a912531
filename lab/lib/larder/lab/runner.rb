# frozen_string_literal: true

# Runs a comparison of stores: a trial of every contender, then rounds in which every row is measured once, in a
# random order that can be repeated, each in a fresh process with a fresh server and directory.

require_relative "calibration"
require_relative "clock"
require_relative "comparison"
require_relative "environment"
require_relative "gemfiles"
require_relative "hosting"
require_relative "results"
require_relative "scratch"
require_relative "worker_process"

module Larder
  module Lab
    # Runs what the settings ask for.
    class Runner
      include Clock

      # The contender that is measured twice, in order of preference.
      TWIN = %w[larder memory].freeze
      # A worker that takes so many times as long as expected, and this many seconds more, hangs.
      TIMEOUT_FACTOR = 10
      TIMEOUT_SECONDS = 120
      # The part of a limited time that is planned with.
      RESERVE = 0.7
      # Rounds that are run even if the time is up: fewer have no interval.
      LEAST_ROUNDS = Statistics::LEAST

      # What a sample keeps of the event of a block.
      KEPT = %w[workload pass seconds calls block_runs clearing laps allocated collections collecting own floor].freeze

      # @param settings [Settings]
      # @param progress [Progress]
      def initialize(settings, progress:)
        @settings = settings
        @progress = progress
      end

      # @return [Results]
      def run
        @started = now
        Scratch.open(@settings.directory) do |scratch|
          @scratch = scratch
          @results = Results.new(@settings, Environment.facts(scratch.path))
          calibrate
          measure
        end
        @results.elapsed = elapsed
        @results
      ensure
        @progress.finish
      end

      private

      def calibrate
        @calibration = Calibration.new(count: @settings.count, block_seconds: @settings.block_seconds,
                                       lap_seconds: @settings.lap_seconds)
        @settings.contenders.each { |name| add_row(name, name) }
        @progress.start("trying the contenders", @results.rows.size)
        @results.rows.each { |row| try(row) }
        add_twin
        add_floor
        shrink if @settings.limit_seconds
      end

      def add_row(name, contender)
        row = Results::Row.new(name: name, contender: contender, state: :measured)
        @results.rows << row
        row
      end

      def try(row)
        @progress.step(row.name)
        started = now
        trial = 0.0
        count = Calibration.trial(@settings.count)
        work(row, count: count, calibrating: true) do |event|
          @results.skipped << [row.name, *event.values_at("workload", "reason")] if event["event"] == "skipped"
          next unless event["event"] == "block"

          around = event["clearing"] + event["floor"].to_f
          trial += 2 * (event["seconds"] + around + event["setup"])
          # By n, as laps are planned: a call of read_multi is for many keys.
          @calibration.add(row.contender, event["workload"], event["pass"], seconds: event["seconds"],
                                                                            calls: count,
                                                                            clearing: around, setup: event["setup"])
        end
        @calibration.booted(row.contender, [now - started - trial, 0.0].max)
      end

      # The A/A control: the difference between two rows of the same contender is noise.
      def add_twin
        original = @results.stores.map(&:contender)
        contender = [*TWIN, *original].find { |name| original.include?(name) }
        return unless contender

        source = @results.row(contender)
        twin = add_row("#{contender} (A/A)", contender)
        twin.versions = source.versions
        twin.options = source.options
        twin.server = source.server
        @results.rows.insert(@results.rows.index(source) + 1, @results.rows.pop)
        @results.twins = [twin.name, contender]
      end

      # Its samples are measured beside those of the row with which all are compared.
      def add_floor
        @base = Comparison.new(@results).base
        return unless @base && @settings.workload_types.any?(&:floor?)

        row = add_row(Contenders::Floor.key, Contenders::Floor.key)
        row.count = @calibration.count_for(@results.row(@base).contender)
      end

      # Plans with a reserve: on a busy machine nothing is as fast as it was when it was tried.
      def shrink
        contenders = @results.stores.map(&:contender)
        room = (@settings.limit_seconds - elapsed) * RESERVE
        return unless @calibration.fit(room, contenders, @settings.rounds)

        @results.count = @calibration.count
        @progress.note("n lowered to #{@calibration.count} so that the run stays under a minute")
      end

      def measure
        random = Random.new(@settings.seed)
        rows = @results.stores
        return if rows.empty?

        rows.each { |row| row.count = @calibration.count_for(row.contender) }
        seconds = @calibration.total(rows.map(&:contender), @settings.rounds)
        @progress.start("measuring", rows.size * @settings.rounds, seconds: seconds)
        (1..@settings.rounds).each do |round|
          break if out_of_time?(round, seconds / @settings.rounds)

          rows.shuffle(random: random).each_with_index { |row, position| visit(row, round, position) }
          @results.rounds = round
        end
        forget_orphans
      end

      def out_of_time?(round, expected)
        return false unless @settings.limit_seconds && round > LEAST_ROUNDS

        enough = elapsed + expected > @settings.limit_seconds
        @progress.note("stopped after #{round - 1} rounds: the machine is too busy for more in a minute") if enough
        enough
      end

      def visit(row, round, position)
        expected = @calibration.seconds(row.contender)
        @progress.step("round #{round}/#{@settings.rounds}: #{row.name}", seconds: expected)
        return unless row.measured?

        done = work(row, count: row.count, laps: @calibration.plan(row.contender), expected: expected) do |event|
          event["event"] == "block" ? keep(row, round, position, event) : @progress.detail(where(event))
        end
        note_footprint(row, round, done) if done
      end

      def keep(row, round, position, event)
        fields = event.slice(*KEPT).transform_keys(&:to_sym)
        sample = Results::Sample.new(row: row.name, round: round, position: position, **fields)
        @results.add(sample)
        return unless row.name == @base && sample.floor

        @results.add(Results::Sample.new(**sample.to_h, row: Contenders::Floor.key, seconds: sample.floor, floor: nil,
                                         block_runs: 0, clearing: 0, allocated: 0, collections: 0, collecting: 0))
      end

      def where(event)
        event["event"] == "pass" ? "#{event["workload"]}, #{event["pass"]}" : ""
      end

      def note_footprint(row, round, done)
        @results.footprints << Results::Footprint.new(row: row.name, round: round, disk_bytes: done["disk_bytes"],
                                                      memory_bytes: done["memory_bytes"],
                                                      server_bytes: done["server_bytes"])
      end

      # One process from start to end. Answers its last event, or nil after turning the row down.
      def work(row, count:, laps: {}, calibrating: false, expected: 0.0)
        type = Contenders.fetch(row.contender)
        done = nil
        @scratch.directory do |dir|
          Hosting.for(type, dir, @settings.urls) do |endpoint, server|
            row.server = server.recorded if server
            job = { contender: row.contender, requires: @settings.requires, dir: dir, endpoint: endpoint,
                    threads: @settings.threads, count: count, workloads: @settings.workloads, laps: laps,
                    calibrating: calibrating }
            done = process(type, job, dir, expected).run do |event|
              remember(row, event) if event["event"] == "ready"
              yield event
            end
            done = done.merge("server_bytes" => server&.memory_bytes)
          end
        end
        done
      rescue Unavailable, SystemCallError => error
        turn_down(row, :unavailable, error)
      rescue Invalid => error
        turn_down(row, :invalid, error)
      end

      def process(type, job, dir, expected)
        timeout = (expected * TIMEOUT_FACTOR) + TIMEOUT_SECONDS
        WorkerProcess.new(job, dir: dir, log: File.join(@scratch.path, "#{job[:contender]}.log"), timeout: timeout,
                               gemfile: Gemfiles.path(type.bundle))
      end

      def remember(row, event)
        row.versions = event["versions"]
        row.options = event["options"]
      end

      def turn_down(row, state, error)
        @results.reject(row.name, state, error.message)
        @progress.note("#{row.name}: #{state == :invalid ? "invalid" : "not measured"}: #{error.message}")
        nil
      end

      # Without the A/A control, or without the row that it repeats, there is no measure of noise.
      def forget_orphans
        @results.twins = [] unless @results.twins.all? { |name| @results.row(name).measured? }
      end

      def elapsed
        now - @started
      end
    end
  end
end
