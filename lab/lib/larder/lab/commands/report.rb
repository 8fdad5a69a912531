# frozen_string_literal: true

require_relative "command"
require_relative "../command_line"
require_relative "../document"

module Larder
  module Lab
    module Commands
      # `larder-lab report`: makes any format from what a run kept as JSON; of several runs, one report.
      class Report < Command
        NAME = "report"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "generates a report from JSON files of runs: --html, --markdown, or text"

        # Files to read and files to write.
        class Options
          include CommandLine

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
          private_constant :BANNER, :FOOTER

          # @return [Array<String>] paths
          attr_reader :files

          private

          def operands(rest)
            @files = rest
          end

          def understood
            raise UsageError, "name a JSON file of a run; --json FILE of any command writes one" if files.empty?
          end

          def parser = @parser ||= explained(BANNER, FOOTER)
        end

        # @param arguments [Array<String>]
        # @return [Integer] exit code
        # @raise [UsageError] if a file is no report of the lab, or one cannot be written
        def run(arguments)
          options = options_for(arguments)
          return show(options.help) if options.help?

          document = Document.join(options.files.map { |file| Document.load(file) })
          return show(Reports::Text.new(document, terminal: @out).to_s) if options.outputs.empty?

          must_be_writable(options.outputs)
          write(document, options.outputs)
          CLI::OK
        end
      end
    end
  end
end
