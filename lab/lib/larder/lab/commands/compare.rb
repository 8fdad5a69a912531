# frozen_string_literal: true

require_relative "command"
require_relative "../command_line"
require_relative "../comparing/chapter"

module Larder
  module Lab
    module Commands
      # `larder-lab compare`: two runs beside each other, for people and for CI.
      class Compare < Command
        NAME = "compare"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "two JSON files of runs beside each other; --fail-on 5% for CI"

        # Two files and how to compare them.
        class Options
          include CommandLine

          BANNER = <<~TEXT
            Usage: larder-lab compare FIRST.json SECOND.json [options]

            Says which measures of the second run are worse or better than those of the
            first, beyond what their intervals allow. A measure that has a base (a store
            beside larder, a codec beside its table's) is compared as the ratio to that
            base within the same round, so that a machine that was slower as a whole
            changes nothing.
          TEXT

          FOOTER = <<~TEXT

            Examples:
              larder-lab stores --json before.json
              larder-lab compare before.json after.json
              larder-lab compare before.json after.json --fail-on 5%

            Exit codes: 0 compared, 1 worse than --fail-on allows or nothing in common,
            2 wrong usage.
          TEXT
          private_constant :BANNER, :FOOTER

          # @return [Array<String>] two paths
          attr_reader :files
          # @return [Float, nil] share
          attr_reader :fail_on
          # @return [Boolean]
          attr_reader :absolute, :everything

          def initialize
            @absolute = @everything = false
          end

          private

          def operands(rest)
            @files = rest
          end

          def understood
            return if help? || files.size == 2

            raise UsageError, "name two JSON files, not #{files.size}"
          end

          def parser
            @parser ||= explained(BANNER, FOOTER) do |options|
              options.separator("\nOptions:")
              options.on("--fail-on SHARE", "exit 1 if a measure is shown to be worse,", "and by more, as 5%") do |text|
                @fail_on = share(text)
              end
              options.on("--absolute", "not in relation to bases") { @absolute = true }
              options.on("--all", "list also what did not change") { @everything = true }
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
        # @raise [UsageError] if a file is no report of the lab
        def chapter(options)
          runs = options.files.map { |file| Document.load(file) }
          Comparing::Chapter.new(*runs, fail_on: options.fail_on, absolute: options.absolute,
                                        everything: options.everything).to_chapter
        end
      end
    end
  end
end
