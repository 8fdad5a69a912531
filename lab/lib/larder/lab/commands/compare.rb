# frozen_string_literal: true

require_relative "report"
require_relative "../comparing/chapter"

module Larder
  module Lab
    module Commands
      # `larder-lab compare`: the differences between two sets of reports, for people and for CI.
      class Compare < Command
        NAME = "compare"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "differences between two sets of reports; --fail-on 5% for CI"

        # Two sets of reports and how to compare them.
        class Options < Report::Options
          BANNER = <<~TEXT
            Usage: larder-lab compare FIRST SECOND [options]

            FIRST and SECOND are reports that --json wrote, or directories of reports. Shows
            which measures became worse or better, by more than chance explains over all
            measures at once, and which change would have been found. A loop of plain Ruby
            takes turns with the stores, and times are compared relative to it, so a machine
            that was slower as a whole makes no difference.

            One report of a suite on each side is enough, because each session counts. Other
            commands need several reports on each side, better five or more: each report
            counts once. Alternate the runs of both sides.
          TEXT

          FOOTER = <<~TEXT
            Examples:
              larder-lab applications --json before.json
              larder-lab compare before.json after.json
              larder-lab compare before/ after/ --fail-on 5%

            Exit codes: 0 compared, 1 worse than --fail-on allows or nothing to compare,
            also where --fail-on is given and the machine was too busy to tell in every
            measure, 2 wrong usage.
          TEXT
          private_constant :BANNER, :FOOTER

          # @return [Float, nil] share
          attr_reader :fail_on

          private

          def understood
            return if files.size == 2

            raise UsageError, "name two reports, or two directories of reports, not #{files.size}"
          end

          def parser
            @parser ||= explained(BANNER, FOOTER) do |options|
              options.separator("\nOptions:")
              options.on("--fail-on SHARE", "exit 1 if a measure became worse",
                         "by more than this, such as 5%") { |text| @fail_on = share(text) }
            end
          end

          def share(text)
            number = text[/\A(\d+(?:\.\d+)?) ?%\z/, 1]
            raise UsageError, "--fail-on #{text}: give percent, as 5%" unless number

            number.to_f / 100
          end
        end

        # @param options [Options]
        # @return [Document::Chapter]
        # @raise [UsageError] if a file is not a report of the lab
        def chapter(options)
          sides = options.files.map { |path| Comparing::Runs.new(path) }
          Comparing::Chapter.new(*sides, fail_on: options.fail_on).to_chapter
        end
      end
    end
  end
end
