# frozen_string_literal: true

require_relative "command"
require_relative "../command_line"
require_relative "../comparing/chapter"

module Larder
  module Lab
    module Commands
      # `larder-lab compare`: two sets of runs beside each other, for people and for CI.
      class Compare < Command
        NAME = "compare"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "differences between two sets of runs; --fail-on 5% for CI"

        # Two directories and how to compare them.
        class Options
          include CommandLine

          BANNER = <<~TEXT
            Usage: larder-lab compare FIRST SECOND [options]

            FIRST and SECOND are directories with the JSON files of five or more runs, the
            same number in each. Shows which measures became worse or better in the second
            runs, by more than the confidence interval. Each run also measures a loop of
            plain Ruby, and times and rates are compared relative to it, so a machine that
            was slower as a whole makes no difference. Alternate the runs of both.
          TEXT

          FOOTER = <<~TEXT
            Examples:
              larder-lab stores --json before/1.json
              larder-lab compare before after
              larder-lab compare before after --fail-on 5%

            Exit codes: 0 compared, 1 worse than --fail-on allows or nothing in common,
            2 wrong usage.
          TEXT
          private_constant :BANNER, :FOOTER

          # @return [Array<String>] two paths
          attr_reader :directories
          # @return [Float, nil] share
          attr_reader :fail_on
          # @return [Boolean]
          attr_reader :absolute, :everything

          def initialize
            @absolute = @everything = false
          end

          private

          def operands(rest)
            @directories = rest
          end

          def understood
            return if directories.size == 2

            raise UsageError, "name two directories of runs, not #{directories.size}"
          end

          def parser
            @parser ||= explained(BANNER, FOOTER) do |options|
              options.separator("\nOptions:")
              options.on("--fail-on SHARE", "exit 1 if a measure became worse",
"by more than this, such as 5%") do |text|
                @fail_on = share(text)
              end
              options.on("--absolute", "do not compare relative to the Ruby loop") { @absolute = true }
              options.on("--all", "also list measures that did not change") { @everything = true }
            end
          end

          def share(text)
            number = text[/\A(\d+(?:\.\d+)?) ?%\z/, 1]
            raise UsageError, "--fail-on #{text}: give percent, as 5%" unless number

            number.to_f / 100
          end
        end

        # @param arguments [Array<String>]
        # @return [Options]
        # @raise [UsageError]
        def options_for(arguments)
          Options.new.parse(arguments)
        end

        # @param options [Options]
        # @return [Document::Chapter]
        # @raise [UsageError] if there are too few runs, or a file is no report of the lab
        def chapter(options)
          pairs = Comparing::Runs.pairs(options.directories)
          Comparing::Chapter.new(*pairs, fail_on: options.fail_on, absolute: options.absolute,
                                         everything: options.everything).to_chapter
        end
      end
    end
  end
end
