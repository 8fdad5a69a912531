# frozen_string_literal: true

# Parses the options that `latency`, `scaling`, `soak` and `stampede` have in common.

require_relative "../command_line"
require_relative "../commands/contender_options"
require_relative "results"

module Larder
  module Lab
    module Loads
      # A subclass says its BANNER, FOOTER, LOAD, and in DEFAULT and QUICK how much; it adds options in {#own_options}
      # and what they mean for the load in {#settings}.
      class Options
        include CommandLine
        include Commands::ContenderOptions

        # Of every help text.
        EXIT_CODES = <<~TEXT

          Exit codes: 0 measured, 1 a value was wrong or nothing could be measured,
          2 wrong usage, 130 interrupted.
        TEXT

        # @param arguments [Array<String>]
        # @return [Options]
        # @raise [UsageError] naming the offending option and what is possible
        def self.parse(arguments)
          new.parse(arguments)
        end

        def initialize
          @given = {}
        end

        # @return [String] the contenders
        def list
          ["Contenders (--only, --except):", *listed(registry), "",
           "#{ON_REQUEST} takes part only where it is named."].join("\n")
        end

        # @return [Plan]
        def plan
          @plan ||= Plan.new(
            load: self.class::LOAD, contenders: contenders, rounds: much(:rounds), seed: seed, settings: settings,
            seconds: process_seconds, twin: twin?, least_rounds: 1, size: size, urls: urls, requires: requires,
            directory: @directory, quick: @quick == true,
            # What was asked for is not cut short.
            limit_seconds: (much(:limit) unless %i[rounds seconds].any? { |name| @given.key?(name) })
          )
        end

        private

        # For the load.
        def settings
          { seconds: much(:seconds), threads: 1 }
        end

        # Bytes of room of every store.
        def size
          Contender::SIZE
        end

        def twin?
          true
        end

        # Beside the measured time: starting, proving, filling.
        def process_seconds
          much(:seconds) + 1.5
        end

        def own_options(_options); end

        # What was given, or the default of the mode.
        def much(name)
          @given.fetch(name) { (@quick ? self.class::QUICK : self.class::DEFAULT).fetch(name) }
        end

        def understood
          load_extensions
          plan unless list?
        end

        def parser
          @parser ||= explained(self.class::BANNER, self.class::FOOTER + EXIT_CODES) do |options|
            amount_options(options)
            options.separator("\nWhat:")
            contender_options(options)
            own_options(options)
            extension_options(options)
            options.on("--list", "list contenders") { @list = true }
            server_options(options)
          end
        end

        def amount_options(options)
          options.separator("\nHow much:")
          options.on("--quick", "a rough result in half a minute") { @quick = true }
          options.on("--rounds N", Integer, "processes per contender (default #{self.class::DEFAULT[:rounds]})") do |n|
            @given[:rounds] = positive("--rounds", n)
          end
          time_option(options)
          seed_option(options)
        end

        def time_option(options)
          options.on("--seconds N", Float, "of each block (default #{self.class::DEFAULT[:seconds]})") do |n|
            @given[:seconds] = some("--seconds", n)
          end
        end

        # A list of whole numbers, ascending.
        def counts(option, words)
          numbers = words.map { |word| Integer(word, 10, exception: false) }
          return numbers.sort.uniq if numbers.all? { |number| number&.positive? }

          raise UsageError, "#{option} #{words.join(",")}: numbers of 1 or more, as 1,2,4"
        end
      end
    end
  end
end
