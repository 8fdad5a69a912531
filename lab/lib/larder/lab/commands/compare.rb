# frozen_string_literal: true

require_relative "command"
require_relative "../comparing"

module Larder
  module Lab
    module Commands
      # `larder-lab compare`: the differences between two sets of reports, for people and for CI.
      class Compare < Command
        named "compare", "differences between two sets of reports; --fail-on 5% for CI"

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

        def chapter
          Comparing::Chapter.new(*@files.map { |path| Comparing::Runs.new(path) }, fail_on: @fail_on).to_chapter
        end

        private

        def operands(rest)
          @files = rest
          raise UsageError, "name two reports, or two directories of reports, not #{rest.size}" unless rest.size == 2
        end

        def declare(options)
          options.separator("\nOptions:")
          options.on("--fail-on SHARE", "exit 1 if a measure became worse", "by more than this, such as 5%") do |text|
            percent = text[/\A(\d+(?:\.\d+)?) ?%\z/, 1] or raise UsageError, "--fail-on #{text}: give percent, as 5%"
            @fail_on = percent.to_f / 100
          end
        end
      end
    end
  end
end
