# frozen_string_literal: true

require_relative "../command_line"
require_relative "../contenders"
require_relative "../servers"
require_relative "../settings"
require_relative "../workloads"

module Larder
  module Lab
    module Commands
      # The options of `larder-lab stores`: parsed, checked, explained.
      class StoresOptions
        include CommandLine

        BANNER = <<~TEXT
          Usage: larder-lab stores [options]

          Runs the published comparison of Rails cache stores again, on this machine:

            Rails.cache.fetch(["key", i], expires_in: 5.minutes) { "Hello World!" }

          Pass 1 finds an empty store: each call misses, runs the block and writes.
          Pass 2 asks for the same keys again: each call hits. With one thread, with
          several as published, and with several in a form that measures what it says.

          Every contender runs in a fresh process, round after round in random order;
          every value is checked; one contender runs twice to show the noise. A
          contender whose gem or server is missing is a row that says so.
        TEXT

        FOOTER = <<~TEXT

          How to read the tables: "times larder" is how many times as long a call took,
          the median over rounds, with its 95 % interval. A ratio marked with the sign
          for "about" differs by no more than the noise: no difference is shown.

          Examples:
            larder-lab stores --quick
            larder-lab stores --only larder,redis,memcached --n 100000
            larder-lab stores --redis-url redis://cache.example:6379/1 --json run.json

          Exit codes: 0 measured, 1 a value was wrong or nothing could be measured,
          2 wrong usage, 130 interrupted.
        TEXT
        # Marks in the list what is left out by default.
        ON_REQUEST = "(*)"
        private_constant :BANNER, :FOOTER, :ON_REQUEST

        # @param arguments [Array<String>]
        # @return [StoresOptions]
        # @raise [UsageError] naming the offending option and what is possible
        def self.parse(arguments)
          new.parse(arguments)
        end

        def initialize
          @given = {}
          @modes = []
          @urls = {}
          @requires = []
        end

        # @return [String] contenders and workloads
        def list
          width = (Contenders.names + Workloads.names).map(&:size).max
          contenders = Contenders.names.map { |name| line(Contenders, name, width) }
          workloads = Workloads.names.map { |name| line(Workloads, name, width) }
          ["Contenders (--only, --except, --base):", *contenders, "", "Workloads (--workloads):", *workloads, "",
           "#{ON_REQUEST} takes part only where it is named."].join("\n")
        end

        # @return [Settings]
        # @raise [UsageError]
        def settings
          @settings ||= build
        end

        private

        def understood
          @requires.each { |file| load_extension(file) }
          settings unless help? || list?
        end

        def line(registry, name, width)
          entry = registry.fetch(name)
          "  #{name.ljust(width)}  #{entry.title}#{" #{ON_REQUEST}" if entry.on_request?}"
        end

        def build
          raise UsageError, "--quick and --published exclude each other" if @modes.uniq.size > 1

          mode = { nil => Modes::DEFAULT, :quick => Modes::QUICK, :published => Modes::PUBLISHED }.fetch(@modes.first)
          settings = Settings.new(**mode, **@given.slice(:count, :threads, :rounds, :base, :directory),
                                  seed: @given.fetch(:seed) { Random.new_seed % 1_000_000 },
                                  contenders: contenders, workloads: workloads(mode), urls: @urls, requires: @requires)
          # An exact n is not lowered behind the user's back.
          settings.limit_seconds = nil if @given.key?(:count) || @given.key?(:rounds)
          check(settings)
        end

        def check(settings)
          if settings.count < settings.threads
            raise UsageError, "--n #{settings.count} is less than one call for each of #{settings.threads} threads"
          end
          return settings unless settings.base && !settings.contenders.include?(Contenders.check([settings.base]).first)

          raise UsageError, "--base #{settings.base} is not among the contenders: #{settings.contenders.join(", ")}"
        end

        def contenders
          chosen = Contenders.check(@given.fetch(:only, Contenders.usual)) - Contenders.check(@given.fetch(:except, []))
          raise UsageError, "--only and --except leave no contender" if chosen.empty?

          chosen
        end

        def workloads(mode)
          return Workloads.check(@given[:workloads]) if @given.key?(:workloads)
          return Workloads.usual unless mode.equal?(Modes::PUBLISHED)

          Workloads.usual.select { |name| Workloads.fetch(name).published? }
        end

        def load_extension(file)
          require file
        rescue LoadError => error
          raise UsageError, "--require #{file}: #{error.message}"
        end

        def parser
          @parser ||= OptionParser.new do |options|
            options.require_exact = true
            options.summary_width = 24
            options.banner = BANNER
            size_options(options)
            choice_options(options)
            server_options(options)
            output_options(options)
            options.separator(FOOTER)
          end
        end

        def size_options(options)
          options.separator("\nHow much:")
          options.on("--quick", "an impression in less than a minute") { @modes << :quick }
          options.on("--published", "exactly as published: n = 100,000, one lap",
                     "per pass, the two published workloads") { @modes << :published }
          options.on("--n N", Integer, "calls per lap (default 10,000)") { |n| @given[:count] = positive("--n", n) }
          options.on("--threads N", Integer, "threads where several (default 5)") do |n|
            @given[:threads] = positive("--threads", n)
          end
          options.on("--rounds N", Integer, "processes per contender (default 5)") do |n|
            @given[:rounds] = positive("--rounds", n)
          end
          options.on("--seed N", Integer, "order of the rounds, to repeat a run") { |n| @given[:seed] = n.abs }
        end

        def choice_options(options)
          options.separator("\nWhat:")
          options.on("--only A,B", Array, "these contenders") { |names| @given[:only] = names }
          options.on("--except A,B", Array, "all contenders but these") { |names| @given[:except] = names }
          options.on("--workloads A,B", Array, "these workloads") { |names| @given[:workloads] = names }
          options.on("--base NAME", "contender that ratios refer to (default larder)") { |name| @given[:base] = name }
          options.on("--require FILE", "load a file that adds contenders", "(see the README of larder-lab)") do |file|
            @requires << (File.exist?(file) ? File.expand_path(file) : file)
          end
          options.on("--list", "list contenders and workloads") { @list = true }
        end

        def server_options(options)
          options.separator("\nWhere (default: private servers, started from the PATH and stopped afterwards):")
          Servers.names.each do |name|
            options.on("--#{name}-url URL", "a running #{name}; nothing in it is deleted,",
                       "the lab's keys expire after 5 minutes") { |url| @urls[name] = url }
          end
          options.on("--dir DIR", "where stores keep their files", "(default: a temporary directory)") do |dir|
            @given[:directory] = dir
          end
        end

        def positive(option, number)
          return number if number.positive?

          raise UsageError, "#{option} must be 1 or more, not #{number}"
        end
      end
    end
  end
end
