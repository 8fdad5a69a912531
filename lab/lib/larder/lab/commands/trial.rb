# frozen_string_literal: true

require_relative "command"
require_relative "../progress"
require_relative "../trials/json"
require_relative "../trials/options"
require_relative "../trials/runner"
require_relative "../trials/text"

module Larder
  module Lab
    module Commands
      # What `larder-lab compressors` and `larder-lab serializers` have in common. A subclass says its KIND, BANNER, ALL
      # and PAYLOADS.
      class Trial < Command
        # What a subclass may say otherwise.
        OPTIONS = Trials::Options
        TEXT = Trials::Text

        # @param arguments [Array<String>]
        # @return [Integer] exit code: 0, or 1 if a row is void or nothing could be measured
        # @raise [UsageError]
        def run(arguments)
          type = self.class
          options = type::OPTIONS.new(type::KIND, type::BANNER, type::ALL, type::PAYLOADS).parse(arguments)
          return show(options.help) if options.help?
          return show(options.list) if options.list?

          json = options.json && writable(options.json)
          measure(options.plan, json)
        end

        private

        def measure(plan, json)
          results = Trials::Runner.new(plan, progress: Progress.new(@err)).run
          write_json(json, Trials::Json.new(results).to_s) if json
          @out.puts(self.class::TEXT.new(results, terminal: @out).to_s)
          results.void? || results.samples.empty? ? CLI::FAILED : CLI::OK
        end
      end
    end
  end
end
