# frozen_string_literal: true

# Parses, checks and explains the options of `larder-lab layered`.

require_relative "../command_line"
require_relative "../units"
require_relative "plan"

module Larder
  module Lab
    module Layered
      # Arguments, and the {Plan} that follows from them.
      class Options
        include CommandLine

        BANNER = <<~TEXT
          Usage: larder-lab layered [options]

          Measures Larder in front of a store that several machines share (remote: of
          :larder_store) beside that store alone, at several round-trip times. A proxy in
          front of a private Redis and memcached adds them. Processes with a file each
          stand for machines: one changes values, others read them.

          bare        the remote store alone
          copies      Larder with remote:; copies are used for local_expires_in
          backplane   the same, and machines tell each other of changes

          The report has the time of each kind of call, the share of reads that the file
          answers, how old answers are after a change on another machine, the same for two
          regions with one remote store or one in each, and a model of many machines.
        TEXT
        FOOTER = <<~TEXT
          A run takes about two minutes. The model measures nothing: its formulae are in
          the README of larder-lab, and each run compares them with what a Redis counts
          under 24 processes.

          Examples:
            larder-lab layered --quick
            larder-lab layered --rtt 0.3ms,70ms --remotes redis
            larder-lab layered --local-expires-in 2s --changes 50
            larder-lab layered --model --machines 40 --workers 16 --worker-reads 500

          Exit codes: 0 measured, 1 a value was wrong or older than it may be, or nothing
          could be measured, 2 wrong usage, 130 interrupted.
        TEXT
        private_constant :BANNER, :FOOTER

        USUAL = { rounds: 2, seconds: 0.02, traffic: 1.2, watching: 1.5, rtts: %w[0 0.5ms 2ms 30ms 100ms],
                  remotes: %w[redis memcached] }.freeze
        QUICK = { rounds: 1, seconds: 0.01, traffic: 0.8, watching: 0.8, rtts: %w[0.5ms 30ms],
                  remotes: %w[redis] }.freeze
        # Of what is measured, and of the model.
        DEFAULTS = { expires: 0.5, expires_in: 1.0, reads: 200.0, changes: 10.0, keys: 200, skew: 0.9, bytes: 2000,
                     machines: 1000, workers: 32, threads: 3, worker_reads: 100.0, all_changes: 100.0,
                     all_keys: 1_000_000 }.freeze
        SIMULATED = { machines: 8, workers: 3, threads: 1, reads: 1200.0, changes: 36.0, keys: 200, key_bytes: 11,
                      expires: 1.0, backplane: true }.freeze
        # Rails' clients give up after a second; a call may need two round trips.
        LONGEST = 0.45
        # Durations that a run waits for.
        WAITS = (0.1..10.0)
        MOST_KEYS = 10_000_000
        MOST_BYTES = 1_000_000

        # @param arguments [Array<String>]
        # @return [Options]
        # @raise [UsageError] naming the offending option and what is possible
        def self.parse(arguments)
          new.parse(arguments)
        end

        def initialize
          @mode = USUAL
          @given = {}
        end

        # @return [Boolean] only the model, without a measurement?
        def model?
          @model == true
        end

        # @return [Plan]
        # @raise [UsageError]
        def plan
          @plan ||= Plan.new(remotes: remotes, rtts: rtts, rounds: @given[:rounds] || @mode[:rounds], fleet: fleet,
                             simulated: simulated, directory: @directory, seed: seed,
                             **@mode.slice(:seconds, :traffic, :watching),
                             **%i[expires expires_in reads changes keys skew bytes].to_h { |key| [key, value(key)] })
        end

        private

        def value(key)
          @given.fetch(key) { DEFAULTS.fetch(key) }
        end

        def understood
          plan
        end

        def remotes
          @given[:remotes] || @mode[:remotes]
        end

        def rtts
          (@given[:rtts] || @mode[:rtts]).map { |text| rtt(text) }.uniq.sort
        end

        def rtt(text)
          seconds = Units.duration(text, "--rtt")
          return seconds if seconds <= LONGEST

          raise UsageError, "--rtt #{text}: #{(LONGEST * 1000).round}ms at most, as the clients of the stores give " \
                            "up after a second"
        end

        def fleet
          Fleet.new(machines: value(:machines), workers: value(:workers), threads: value(:threads),
                    reads: value(:worker_reads) * value(:machines) * value(:workers), changes: value(:all_changes),
                    keys: value(:all_keys), skew: value(:skew), bytes: value(:bytes), key_bytes: 40,
                    expires: Plan::LONGER, backplane: true, rtt: rtts.find(&:positive?) || 0.0)
        end

        # As large as two processors can run.
        def simulated
          Fleet.new(**SIMULATED, skew: value(:skew), bytes: value(:bytes), rtt: rtts.find(&:positive?) || 0.0)
        end

        def parser
          @parser ||= explained(BANNER, FOOTER) do |options|
            amount_options(options)
            measured_options(options)
            model_options(options)
          end
        end

        def amount_options(options)
          options.separator("\nHow much:")
          options.on("--quick", "a rough result in a minute") { @mode = QUICK }
          options.on("--rounds N", Integer, "visits for each row of calls (default 2)") do |number|
            @given[:rounds] = within("--rounds", number, 1..100)
          end
          seed_option(options)
          options.on("--dir DIR", "where machines keep their files", "(default: a temporary directory)") do |dir|
            @directory = dir
          end
        end

        def measured_options(options)
          options.separator("\nWhat is measured:")
          options.on("--rtt A,B", Array, "round trips to the remote store; 0: the same", "machine, a Unix socket",
                     "(default #{USUAL[:rtts].join(",")})") { |texts| @given[:rtts] = texts }
          options.on("--remotes A,B", Array, "#{USUAL[:remotes].join(", ")} (default both);",
                     "of memcached only calls are measured") do |names|
            @given[:remotes] = known(names)
          end
          duration(options, "--local-expires-in TIME", :expires, "of copies without a backplane", "(default 500ms)")
          duration(options, "--expires-in TIME", :expires_in, "of entries in two regions (default 1s)")
          number(options, "--reads N", :reads, "reads a second of a machine (default 200)", 1..10_000)
          number(options, "--changes N", :changes, "changes a second by another (default 10)", 0.1..1000)
          count(options, "--keys N", :keys, "keys, read by Zipf's law (default 200)", 1..MOST_KEYS)
          number(options, "--skew N", :skew, "exponent of Zipf's law (default 0.9)", 0..5)
          options.on("--bytes BYTES", "size of a value (default 2000)") do |text|
            @given[:bytes] = within("--bytes", Units.size(text, "--bytes"), 100..MOST_BYTES)
          end
        end

        def model_options(options)
          options.separator("\nThe model:")
          options.on("--model", "print the model, measure nothing") { @model = true }
          count(options, "--machines N", :machines, "(default 1000)", 1..1_000_000)
          count(options, "--workers N", :workers, "processes of each (default 32)", 1..10_000)
          count(options, "--threads N", :threads, "threads of each process (default 3)", 1..1000)
          number(options, "--worker-reads N", :worker_reads, "reads a second of a process (default 100)", 0.001..1e6)
          number(options, "--all-changes N", :all_changes, "changes a second of all (default 100)", 0..1e7)
          count(options, "--all-keys N", :all_keys, "keys of all (default 1000000)", 1..MOST_KEYS)
        end

        def duration(options, flag, key, *words)
          options.on(flag, *words) do |text|
            @given[key] = within(flag.split.first, Units.duration(text, flag.split.first), WAITS, " seconds")
          end
        end

        def number(options, flag, key, words, range)
          options.on(flag, Float, words) { |number| @given[key] = within(flag.split.first, number, range) }
        end

        def count(options, flag, key, words, range)
          options.on(flag, Integer, words) { |number| @given[key] = within(flag.split.first, number, range) }
        end

        def within(option, number, range, unit = "")
          return number if range.cover?(number)

          bounds = range.minmax.map { |bound| format("%.15g", bound) }.join(" to ")
          raise UsageError, "#{option} must be #{bounds}#{unit}, not #{format("%.15g", number)}"
        end

        def known(names)
          unknown = names - USUAL[:remotes]
          return names.uniq if unknown.empty? && names.any?

          raise UsageError, "--remotes #{unknown.first}: known are #{USUAL[:remotes].join(", ")}"
        end
      end
    end
  end
end
