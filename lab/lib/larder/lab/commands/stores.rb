# frozen_string_literal: true

require_relative "command"
require_relative "stores_options"
require_relative "../comparison"
require_relative "../progress"
require_relative "../reports"
require_relative "../runner"

module Larder
  module Lab
    module Commands
      # `larder-lab stores`: the published comparison of cache stores, as published and corrected.
      class Stores < Command
        Commands.register("stores", self)

        # One line for `larder-lab --help`.
        SUMMARY = "Rails.cache.fetch on every store: misses, hits, writes, one thread and several"

        # @param arguments [Array<String>]
        # @return [Integer] exit code: 0, or 1 if a row is void or nothing could be measured
        # @raise [UsageError]
        def run(arguments)
          options = StoresOptions.parse(arguments)
          return show(options.help) if options.help?
          return show(options.list) if options.list?

          json = options.json && writable(options.json)
          measure(options.settings, json)
        end

        private

        def measure(settings, json)
          results = Runner.new(settings, progress: Progress.new(@err)).run
          comparison = Comparison.new(results)
          write_json(json, Reports.fetch("json").new(results, comparison, terminal: @out).to_s) if json
          @out.puts(Reports.fetch("text").new(results, comparison, terminal: @out).to_s)
          failed?(results) ? CLI::FAILED : CLI::OK
        end

        def failed?(results)
          results.measured.empty? || results.rows.any? { |row| row.state == :void }
        end
      end
    end
  end
end
