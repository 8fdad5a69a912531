# frozen_string_literal: true

require_relative "command"

module Larder
  module Lab
    module Commands
      # `larder-lab report`: makes any format from what a run kept as JSON; of several runs, one report.
      class Report < Command
        named "report", "generates a report from JSON files of runs: --html, --json, or text"

        BANNER = <<~TEXT
          Usage: larder-lab report RUN.json... [options]

          Generates a report again from the JSON files that --json FILE of any command
          wrote. It measures nothing. Several files become one report with all chapters.
          Without an option the report is printed as text.
        TEXT
        FOOTER = <<~TEXT
          Examples:
            larder-lab report run.json --html report.html
            larder-lab report stores.json hitratio.json --html both.html --json both.json

          Exit codes: 0 made, 2 wrong usage.
        TEXT

        private

        def operands(rest)
          @files = rest
        end

        def understood
          raise UsageError, "name a JSON file of a run; --json FILE of any command writes one" if @files.empty?
        end

        def act
          document = Document.join(@files.map { |file| Document.load(file) })
          return say(Reports::Text.new(document, terminal: @out).to_s.lines(chomp: true)) if outputs.empty?

          check_outputs
          write_all(document)
          CLI::OK
        end
      end
    end
  end
end
