# frozen_string_literal: true

# Parses, checks and explains the options of the commands that try codecs.

require_relative "../command_line"
require_relative "comparison"
require_relative "contenders"
require_relative "payloads"
require_relative "runner"

module Larder
  module Lab
    # Comparisons of codecs: what is tried, in which processes, and what became of it.
    module Trials
      # Arguments of `larder-lab compressors` and `serializers`.
      class Options
        include CommandLine

        # Where a command says nothing else of a mode.
        MODES = { quick: { rounds: 3, seconds: 0.02 }, usual: { rounds: 5, seconds: 0.1 },
                  thorough: { rounds: 7, seconds: 1.0 } }.freeze

        # @param kind [String] "compressors" or "serializers"
        # @param banner [String]
        # @param all [Array<TrialContenders::Contender>]
        # @param payloads [Array<String>] those that take part without being named
        # @param modes [Hash{Symbol=>Hash}] what is run with --quick, --thorough or neither (:usual), where it is not
        #   that of {MODES}: any of the options
        def initialize(kind, banner, all, payloads, modes = {})
          @kind = kind
          @banner = banner
          @all = all
          @payloads = payloads
          @modes = MODES.to_h { |mode, settings| [mode, settings.merge(modes.fetch(mode, {}))] }
          @mode = :usual
          @given = {}
          @urls = {}
        end

        # @return [String] contenders and payloads
        def list
          payloads = Payloads.names.map { |name| [name, Payloads.fetch(name).title, @payloads.include?(name)] }
          width = (@all.map(&:name) + Payloads.names).map(&:size).max
          ["Codecs (--only, --except):", *listed(codecs, width), "", "Payloads (--payloads):", *listed(payloads, width),
           "", "(*) takes part only where it is named."].join("\n")
        end

        # @return [Plan]
        # @raise [UsageError]
        def plan
          @plan ||= Plan.new(kind: @kind, trials: with_twins(trials), titles: titles, urls: @urls,
                             rounds: setting(:rounds), seconds: setting(:seconds),
                             seed: seed)
        end

        private

        def understood
          plan unless list?
        end

        # What was asked for, or else what the mode says.
        def setting(key)
          @given.fetch(key) { @modes[@mode][key] }
        end

        def codecs
          @all.map { |each| [each.name, each.title, each.usual] }
        end

        # Of names, what they are, and whether they take part unasked.
        def listed(rows, width = rows.map { |name, *| name.size }.max)
          rows.map { |name, title, usual| "  #{name.ljust(width)}  #{title}#{" (*)" unless usual}" }
        end

        def trials
          contenders.product(chosen_payloads).map do |contender, payload|
            job = { payload: payload, source: @given[:source], count: setting(:count), **contender.to_job }
            Trial.new(name: contender.name, group: payload, job: job)
          end
        end

        # The A/A run: what two rows of the same codec differ by is noise.
        def with_twins(trials)
          trials + trials.group_by(&:group).each_value.map do |rows|
            base = Comparison::BASES.filter_map { |name| rows.find { |trial| trial.name == name } }.first || rows.first
            Trial.new(**base.to_h, name: "#{base.name} (A/A)", twin: base.name)
          end
        end

        def titles
          chosen_payloads.to_h { |payload| [payload, Payloads.fetch(payload).title] }
        end

        def contenders
          chosen = TrialContenders.choose(@all, setting(:only))
          chosen -= TrialContenders.choose(@all, @given[:except]) if @given[:except]
          raise UsageError, "--only and --except leave no codec" if chosen.empty?

          chosen
        end

        def chosen_payloads
          return ["given"] if @given[:source]

          Payloads.check(setting(:payloads) || @payloads)
        end

        def parser
          @parser ||= explained(@banner) do |options|
            size_options(options)
            choice_options(options)
          end
        end

        def size_options(options)
          options.separator("\nHow much:")
          usual = @modes.fetch(:usual)
          options.on("--quick", "a rough result: #{@modes.dig(:quick, :rounds)} rounds, short blocks") do
            @mode = :quick
          end
          options.on("--thorough", "#{@modes.dig(:thorough, :rounds)} rounds, blocks of a second") { @mode = :thorough }
          number(options, "--rounds N", Integer, :rounds, "processes for each row (default #{usual[:rounds]})")
          number(options, "--seconds S", Float, :seconds, "of a block, at least (default #{usual[:seconds]})")
          number(options, "--n N", Integer, :count, "records of a payload that is a list")
          seed_option(options)
        end

        def number(options, flag, type, key, words)
          options.on(flag, type, words) { |given| @given[key] = positive(flag.split.first, given) }
        end

        def choice_options(options)
          options.separator("\nWhat:")
          names(options, "--only A,B", :only, "these codecs; a name without level: all its levels")
          names(options, "--except A,B", :except, "all codecs but these")
          names(options, "--payloads A,B", :payloads, "these payloads", "(default #{@payloads.join(",")})")
          options.on("--payload SOURCE", "your data: a file (.json, .marshal, .rb, any),",
"or ruby:EXPRESSION") do |text|
            @given[:source] = source(text)
          end
          options.on("--list", "list codecs and payloads") { @list = true }
        end

        def names(options, flag, key, *words)
          options.on(flag, Array, *words) { |given| @given[key] = given }
        end

        def source(text)
          return text if text.start_with?(Payloads::Given::EXPRESSION)
          return File.expand_path(text) if File.file?(text)

          raise UsageError, "--payload #{text}: no such file; an expression begins with ruby:"
        end

        def positive(option, number)
          return number if number.positive?

          raise UsageError, "#{option} must be more than 0, not #{number}"
        end
      end
    end
  end
end
