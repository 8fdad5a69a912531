# frozen_string_literal: true

require "etc"
require_relative "mix"
require_relative "options"

module Larder
  module Lab
    module Loads
      # The options of `larder-lab scaling`.
      class ScalingOptions < Options
        LOAD = "scaling"
        DEFAULT = { rounds: 3, seconds: 0.3, limit: 220 }.freeze
        QUICK = { rounds: 1, seconds: 0.1, limit: 25 }.freeze
        # Numbers of threads, and those of a quick run.
        THREADS = [1, 2, 4, 8].freeze
        QUICK_THREADS = [1, 4].freeze
        BANNER = <<~TEXT
          Usage: larder-lab scaling [options]

          Measures how many calls a second a store answers with more callers: threads of
          one process, and processes that use the same file or server. It measures hits
          only, and 95 hits to 5 writes, on keys that all callers share.
        TEXT
        FOOTER = <<~TEXT
          Efficiency is the throughput of n callers divided by n times the throughput of
          one. It is 1 at best, and less with more callers than cores.

          Examples:
            larder-lab scaling --quick
            larder-lab scaling --only larder,redis,solid_cache --processes 1,2,4,8,16
            larder-lab scaling --rounds 10 --seconds 1 --html scaling.html
        TEXT

        private

        def settings
          { **super, threads: threads.max, thread_counts: threads, process_counts: processes, mixes: Mix::NAMES.keys }
        end

        # A single round shows no difference, so that there is no noise to tell it from.
        def twin?
          much(:rounds) > 1
        end

        def threads
          @given.fetch(:threads) { @quick ? QUICK_THREADS : THREADS }
        end

        # 1, 2, 4 and so on, up to twice as many as there are cores; in a quick run 1 and as many as there are.
        def processes
          @given.fetch(:processes) do
            next [1, Etc.nprocessors].uniq if @quick

            most = 2 * Etc.nprocessors
            [*(0..).lazy.map { |power| 1 << power }.take_while { |count| count < most }, most]
          end
        end

        def process_seconds
          steps = (threads.size + processes.size) * Mix::NAMES.size
          (steps * much(:seconds)) + 2.0
        end

        def own_options(options)
          options.on("--threads A,B", Array, "numbers of threads (default #{THREADS.join(",")})") do |words|
            @given[:threads] = counts("--threads", words)
          end
          options.on("--processes A,B", Array, "numbers of processes (default 1,2,4 ...",
                     "up to twice the cores)") { |words| @given[:processes] = counts("--processes", words) }
        end
      end
    end
  end
end
