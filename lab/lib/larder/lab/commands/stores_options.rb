# frozen_string_literal: true

require_relative "contender_options"
require_relative "../settings"
require_relative "../workloads"

module Larder
  module Lab
    module Commands
      # The options of `larder-lab stores`: parsed, checked, explained.
      class StoresOptions
        include CommandLine
        include ContenderOptions

        BANNER = <<~TEXT
          Usage: larder-lab stores [options]

          Measures Rails cache stores on this machine: pages and fragments as views cache
          them, and the published comparison:

            Rails.cache.fetch(["key", i], expires_in: 5.minutes) { "Hello World!" }

          Pass 1 starts with an empty store: each call misses, runs the block and writes.
          Pass 2 reads the same keys again: each call hits. Both run with one thread, with
          several threads as published, and with several threads on different keys.

          More of what applications do is measured on request (--list). The row "floor" is
          what a call costs with any store, such as asking the records in a key and
          copying the value; "above floor" is what a store takes beyond it, and "share"
          its part of a whole request.

          Each contender runs in new processes, in several rounds of random order. Every
          value is checked. One contender, the A/A control, runs twice to show the noise.
          A contender whose gem or server is missing has a row with the reason.
        TEXT

        FOOTER = <<~TEXT
          How to read the tables: "times larder" is how many times as long a call took,
          the median over rounds, with its interval. A ratio marked ~ or ≈ differs by no
          more than the noise: no difference is shown.

          Examples:
            larder-lab stores --quick
            larder-lab stores --only larder,redis,memcached --n 100000
            larder-lab stores --redis-url redis://cache.example:6379/1 --json run.json

          Exit codes: 0 measured, 1 a value was wrong or nothing could be measured,
          2 wrong usage, 130 interrupted.
        TEXT
        # A lap lasts as many blocks at most, as without --seconds.
        LAP = Modes::DEFAULT[:lap_seconds] / Modes::DEFAULT[:block_seconds]
        private_constant :BANNER, :FOOTER, :LAP

        # @param arguments [Array<String>]
        # @return [StoresOptions]
        # @raise [UsageError] naming the offending option and what is possible
        def self.parse(arguments)
          new.parse(arguments)
        end

        def initialize
          @given = {}
          @modes = []
        end

        # @return [String] contenders and workloads
        def list
          width = (Contenders.names + Workloads.names).map(&:size).max
          ["Contenders (--only, --except, --base):", *listed(Contenders, width), "",
           "Workloads (--workloads):", *listed(Workloads, width), "",
           "#{ON_REQUEST} takes part only where it is named, or all are."].join("\n")
        end

        # @return [Settings]
        # @raise [UsageError]
        def settings
          @settings ||= build
        end

        private

        def quick?
          @modes.include?(:quick)
        end

        def understood
          load_extensions
          settings unless list?
        end

        def build
          raise UsageError, "--quick and --published exclude each other" if @modes.uniq.size > 1

          mode = { nil => Modes::DEFAULT, :quick => Modes::QUICK, :published => Modes::PUBLISHED }.fetch(@modes.first)
          settings = Settings.new(**mode, **@given.slice(:count, :threads, :rounds, :base),
                                  directory: @directory, seed: seed,
                                  contenders: contenders, workloads: workloads(mode), urls: urls, requires: requires)
          # An exact n is not lowered behind the user's back.
          settings.limit_seconds = nil if %i[count rounds seconds].any? { |name| @given.key?(name) }
          lengthen(settings) if @given.key?(:seconds)
          settings.lap_seconds = nil if @given.key?(:count)
          check(settings)
        end

        # Laps of slow stores are shorter with the blocks.
        def lengthen(settings)
          settings.block_seconds = @given[:seconds]
          settings.lap_seconds = @given[:seconds] * LAP
        end

        def check(settings)
          if settings.count < settings.threads
            raise UsageError, "--n #{settings.count} is less than one call for each of #{settings.threads} threads"
          end
          return settings unless settings.base && !settings.contenders.include?(Contenders.check([settings.base]).first)

          raise UsageError, "--base #{settings.base} is not among the contenders: #{settings.contenders.join(", ")}"
        end

        def workloads(mode)
          return Workloads.check(@given[:workloads]) if @given.key?(:workloads)
          return Workloads.usual unless mode.equal?(Modes::PUBLISHED)

          Workloads.usual.select { |name| Workloads.fetch(name).published? }
        end

        def parser
          @parser ||= explained(BANNER, FOOTER) do |options|
            size_options(options)
            choice_options(options)
            server_options(options)
          end
        end

        def size_options(options)
          options.separator("\nHow much:")
          options.on("--quick", "a rough result in less than a minute") { @modes << :quick }
          options.on("--published", "exactly as published: n = 100,000, one lap",
                     "per pass, the two published workloads") { @modes << :published }
          options.on("--n N", Integer, "calls per lap (default 10,000, fewer for", "slow stores)") do |n|
            @given[:count] = positive("--n", n)
          end
          options.on("--threads N", Integer, "threads of multi-threaded workloads (default 5)") do |n|
            @given[:threads] = positive("--threads", n)
          end
          options.on("--rounds N", Integer, "processes per contender (default 5)") do |n|
            @given[:rounds] = positive("--rounds", n)
          end
          options.on("--seconds S", Float, "least length of a block (default 1)") do |seconds|
            @given[:seconds] = some("--seconds", seconds)
          end
          seed_option(options)
        end

        def choice_options(options)
          options.separator("\nWhat:")
          contender_options(options)
          options.on("--workloads A,B", Array, "these workloads (all: every one)") do |names|
            @given[:workloads] = names
          end
          options.on("--base NAME", "contender that ratios refer to (default larder)") { |name| @given[:base] = name }
          extension_options(options)
          options.on("--list", "list contenders and workloads") { @list = true }
        end
      end
    end
  end
end
