# frozen_string_literal: true

require_relative "command"
require_relative "../bench/conductor"
require_relative "../servers"
require_relative "../suite_report/chapter"
require_relative "../suites"
require_relative "../units"

module Larder
  module Lab
    module Commands
      # A command that runs SUITES and makes a chapter of the report of each. BANNER begins its --help.
      class Suite < Command
        # Marks in the list what is left out by default.
        ON_REQUEST = "(*)"
        TURNS = <<~TEXT

          Each row runs in two processes; all take turns of 20 ms, with fresh processes in
          each session. Every value is checked. A row says which gem or server it lacks.
        TEXT
        # Where rows do not take turns.
        APART = <<~TEXT

          Each session has fresh processes. Every value is checked. A row says which gem
          or server it lacks.
        TEXT
        FOOTER = "Exit codes: 0 measured, 1 something was wrong, 2 wrong usage, 130 interrupted.\n"
        # Sessions, passes in each, and seconds that the run of a suite may take.
        USUAL = { sessions: 6, passes: 6, limit_seconds: 150.0 }.freeze
        QUICK = { sessions: 5, passes: 2, limit_seconds: 40.0 }.freeze
        # Bytes of room that each server can be given.
        LEAST_SIZE = 4 << 20

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

        def parse(arguments)
          @suites = self.class::SUITES.map { |name| Suites.fetch(name) }
          @amounts = {}
          @settings = {}
          @urls = {}
          @requires = []
          super
        end

        def contenders = @suites.flat_map { |suite| rows(suite) }.uniq

        # Rows, and blocks that take long.
        def left_out
          return [] unless @quick

          usual = @only ? [] : @suites.flat_map { |suite| usual_rows(suite) }.uniq
          usual.select { |name| registry.fetch(name).slow_to_start? } +
            (@blocks ? [] : all_blocks.select(&:slow).map(&:key))
        end

        def list
          usual = @suites.flat_map { |suite| usual_rows(suite) }
          rows = registry.names.to_h do |name|
            [name, "#{registry.fetch(name).title}#{" #{ON_REQUEST}" unless usual.include?(name)}"]
          end
          ["Rows (--only, --except):", *listed(rows), "",
           "Blocks (--blocks):", *listed(all_blocks.to_h { |block| [block.key, block.title] }), "",
           "#{ON_REQUEST} takes part only where it is named, or all are."]
        end

        # A {Bench::Plan} for each suite that has chosen blocks.
        def plans
          @plans ||= @suites.map { |suite| [suite, chosen(suite)] }.reject { |_, blocks| blocks.empty? }
                            .map do |suite, blocks|
            Bench::Plan.new(suite: suite, rows: rows(suite), blocks: blocks, seed: seed, urls: @urls,
                            requires: @requires, directory: @directory, size: @bytes, **amounts)
          end
        end

        def chapters = plans.map { |plan| watched { chapter_of(plan) } }

        private

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

        # The row that others are compared with, if one is named.
        def base
          return unless @base
          return @base if contenders.include?(registry.check([@base]).first)

          raise UsageError, "--base #{@base} is not among the contenders: #{contenders.join(", ")}"
        end

        def registry = @suites.first.registry

        # Those that take part unless others are named.
        def usual_rows(suite) = suite.usual&.call || registry.usual

        # An exact number of sessions is not lowered behind the user's back.
        def amounts
          usual = @quick ? QUICK : USUAL
          usual = usual.except(:limit_seconds) if @amounts.any? && !@amounts.key?(:limit_seconds)
          usual = usual.merge(sessions: @quick ? 1 : @suites.first.sessions) if @suites.first.sessions
          usual.merge(@amounts)
        end

        # Rows that are asked for by name all take part.
        def rows(suite)
          chosen = registry.check(@only || (usual_rows(suite) - left_out)) - registry.check(@except || [])
          raise UsageError, "--only and --except leave no contender" if chosen.empty?

          chosen
        end

        def all_blocks = @suites.flat_map(&:blocks)

        def chosen(suite)
          return suite.blocks.select { |block| @blocks.include?(block.key) } if @blocks

          suite.blocks.select { |block| !@settings[:given] == !block.given && !(@quick && block.slow) }
        end

        def check_blocks
          unknown = @blocks.to_a - all_blocks.map(&:key)
          raise UsageError, "unknown block #{unknown.first}; known: #{all_blocks.map(&:key).join(", ")}" if unknown.any?

          given = all_blocks.find { |block| block.given && @blocks&.include?(block.key) }
          raise UsageError, "the block #{given.key} needs #{@suites.first.takes.first}" if given && !@settings[:given]
        end

        def operands(rest)
          file = @suites.first.declared.find(&:file) or return super
          raise UsageError, "one FILE at a time: #{rest.join(", ")}" if rest.size > 1

          @settings[file.name] = File.expand_path(rest.first) if rest.any?
        end

        # A file that adds contenders is needed before their names are checked.
        def load_extensions
          @requires.each do |file|
            require file
          rescue LoadError => error
            raise UsageError, "--require #{file}: #{error.message}"
          rescue StandardError, ScriptError => error
            place = "#{error.backtrace.first[/.+?:\d+/]}: #{error.class}: " unless error.is_a?(SyntaxError)
            raise UsageError, "--require #{file}: #{place}#{error.message.lines.first.to_s.chomp}"
          end
        end

        def understood
          load_extensions
          return if @list

          choose_settings
          check_blocks
          base
          raise UsageError, "--blocks and --quick leave no block" if plans.empty?
        end

        def choose_settings
          suite = @suites.first
          quick = @quick ? suite.declared.to_h { |setting| [setting.name, setting.quick] } : {}
          suite.choose(quick.merge(@settings)) if suite.declared.any? || suite.takes.any?
          suite.declared.each { |setting| setting.file&.call }
        end

        def banner = super + (all_blocks.any?(&:call) ? TURNS : APART)

        def declare(options)
          amount_options(options)
          setting_options(options)
          choice_options(options)
          server_options(options)
        end

        def amount_options(options)
          options.separator("\nHow much:")
          options.on("--quick", "a rough result in less time") { @quick = true }
          sessions = @suites.first.sessions ? "default #{@suites.first.sessions}" : "6, or 5 if time is short"
          seconds = (USUAL[:limit_seconds] * @suites.size).round
          { sessions: [1, "--sessions N", Integer, "sets of fresh processes (#{sessions})"],
            passes: [1, "--passes N", Integer, "passes in each session (6, or as few as 2)"],
            turn_seconds: [1000, "--turn-ms MS", Float, "least length of a turn (default 20)"],
            limit_seconds: [@suites.size, "--seconds S", Float, "time that measuring may take (default #{seconds})"] }
            .each do |amount, (parts, *option)|
            number(options, *option) { |value| @amounts[amount] = value / parts }
          end
          seed_option(options)
        end

        # An option with a number above 0, and `most` or less.
        def number(options, flag, type, words, most = nil)
          options.on(flag, type, words) do |value|
            name = flag[/\S+/]
            raise UsageError, "#{name} must be more than 0, not #{value}" unless value.positive? && value.finite?
            raise UsageError, "#{name} must be #{most} or less, not #{value}" if most && value > most

            yield value
          end
        end

        def setting_options(options)
          suite = @suites.first
          options.separator("\nThe load:") if suite.declared.any? || suite.sized
          suite.declared.reject(&:file).each do |setting|
            words = "#{setting.words} (default #{setting.usual})"
            number(options, "#{setting.option} N", setting.usual.class, words, setting.most) do |value|
              @settings[setting.name] = value
            end
          end
          return unless suite.sized

          usual = Reports::Figures.bytes(suite.size)
          options.on("--size BYTES", "room of each store, as 64MiB", "(default #{usual})") do |text|
            @bytes = Units.size(text, "--size")
            raise UsageError, "--size #{text}: at least 4MiB" if @bytes < LEAST_SIZE
          end
        end

        def choice_options(options)
          options.separator("\nChoice:")
          options.on("--only A,B", Array, "these contenders, or all") { |names| @only = names }
          options.on("--except A,B", Array, "all contenders but these") { |names| @except = names }
          options.on("--blocks A,B", Array, "these blocks of code") { |names| @blocks = names }
          base_option(options)
          *words, check = @suites.first.takes
          options.on(*words) { |text| @settings[:given] = check.call(text) } if check
          options.on("--require FILE", "load a file that adds contenders (see the README)") do |file|
            @requires << (File.exist?(file) ? File.expand_path(file) : file)
          end
          options.on("--list", "list contenders and blocks") { @list = true }
        end

        def server_options(options)
          options.separator("\nWhere (private servers are started from the PATH and stopped afterwards):")
          options.on("--dir DIR", "where stores keep their files (default: temporary)") { |dir| @directory = dir }
          names = Servers.names & registry.names.map { |name| registry.fetch(name).server }
          return if names.empty?

          known = names.join(", ")
          theirs = ["a running server, whose data are not deleted; NAME:", *known.scan(/\S.{1,50}(?:,|\z)/)]
          options.on("--url NAME=URL", *theirs) do |text|
            name, url = text.split("=", 2)
            raise UsageError, "--url #{text}: NAME=URL, with a NAME of #{known}" unless url && names.include?(name)

            @urls[name] = url
          end
        end

        def base_option(options)
          options.on("--base NAME", "row that ratios refer to (default #{@suites.first.base})") { |name| @base = name }
        end
      end

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
