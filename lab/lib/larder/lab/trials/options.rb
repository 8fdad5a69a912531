# frozen_string_literal: true

# Owns the options of the commands that try codecs: parsed, checked, explained.

require_relative "../command_line"
require_relative "contestants"
require_relative "payloads"
require_relative "runner"

module Larder
  module Lab
    # Comparisons of codecs: what is tried, in which processes, and what became of it.
    module Trials
      # Arguments of `larder-lab compressors` and `serializers`.
      class Options
        include CommandLine

        MODES = { quick: { rounds: 2, seconds: 0.05 }, usual: { rounds: 5, seconds: 0.5 },
                  thorough: { rounds: 7, seconds: 1.0 } }.freeze

        # @param kind [String] "compressors" or "serializers"
        # @param banner [String]
        # @param all [Array<Contestants::Contestant>]
        # @param payloads [Array<String>] those that take part without being named
        def initialize(kind, banner, all, payloads)
          @kind = kind
          @banner = banner
          @all = all
          @payloads = payloads
          @mode = :usual
          @given = {}
          @urls = {}
        end

        # @return [String] contestants and payloads
        def list
          payloads = Payloads.names.map { |name| [name, Payloads.fetch(name).title, @payloads.include?(name)] }
          width = (@all.map(&:name) + Payloads.names).map(&:size).max
          ["Codecs (--only, --except):", *listed(codecs, width), "", "Payloads (--payloads):", *listed(payloads, width),
           "", "(*) takes part only where it is named."].join("\n")
        end

        # @return [Plan]
        # @raise [UsageError]
        def plan
          @plan ||= Plan.new(kind: @kind, trials: trials, titles: titles, urls: @urls,
                             rounds: @given[:rounds] || MODES[@mode][:rounds],
                             seconds: @given[:seconds] || MODES[@mode][:seconds],
                             seed: @given.fetch(:seed) { Random.new_seed % 1_000_000 })
        end

        private

        def understood
          plan unless help? || list?
        end

        def codecs
          @all.map { |each| [each.name, each.title, each.usual] }
        end

        # Of names, what they are, and whether they take part unasked.
        def listed(rows, width = rows.map { |name, *| name.size }.max)
          rows.map { |name, title, usual| "  #{name.ljust(width)}  #{title}#{" (*)" unless usual}" }
        end

        def trials
          contestants.product(chosen_payloads).map do |contestant, payload|
            job = { payload: payload, source: @given[:source], count: @given[:count], **contestant.to_job }
            Trial.new(name: contestant.name, group: payload, job: job)
          end
        end

        def titles
          chosen_payloads.to_h { |payload| [payload, Payloads.fetch(payload).title] }
        end

        def contestants
          chosen = Contestants.choose(@all, @given[:only])
          chosen -= Contestants.choose(@all, @given[:except]) if @given[:except]
          raise UsageError, "--only and --except leave no codec" if chosen.empty?

          chosen
        end

        def chosen_payloads
          return ["given"] if @given[:source]

          Payloads.check(@given[:payloads] || @payloads)
        end

        def parser
          @parser ||= OptionParser.new do |options|
            options.require_exact = true
            options.summary_width = 24
            options.banner = @banner
            size_options(options)
            choice_options(options)
            output_options(options)
          end
        end

        def size_options(options)
          options.separator("\nHow much:")
          options.on("--quick", "an impression: two rounds, short blocks") { @mode = :quick }
          options.on("--thorough", "seven rounds, blocks of a second") { @mode = :thorough }
          number(options, "--rounds N", Integer, :rounds, "processes for each codec and payload (default 5)")
          number(options, "--seconds S", Float, :seconds, "of a block, at least (default 0.5)")
          number(options, "--n N", Integer, :count, "records of a payload that is a list")
          options.on("--seed N", Integer, "order of the rounds, to repeat a run") { |n| @given[:seed] = n.abs }
        end

        def number(options, flag, type, key, words)
          options.on(flag, type, words) { |given| @given[key] = positive(flag.split.first, given) }
        end

        def choice_options(options)
          options.separator("\nWhat:")
          names(options, "--only A,B", :only, "these codecs; a name without level: all its levels")
          names(options, "--except A,B", :except, "all codecs but these")
          names(options, "--payloads A,B", :payloads, "these payloads", "(default #{@payloads.join(",")})")
          options.on("--payload SOURCE", "your own: a file (.json, .marshal or any),", "or ruby:EXPRESSION") do |text|
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
