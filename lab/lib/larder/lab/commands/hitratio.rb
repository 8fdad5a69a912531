# frozen_string_literal: true

require_relative "command"
require_relative "../hitratio/options"
require_relative "../hitratio/replay"
require_relative "../hitratio/report"
require_relative "../progress"

module Larder
  module Lab
    module Commands
      # `larder-lab hitratio`: how many requests of a trace miss, in Larder and under other policies.
      class Hitratio < Command
        Commands.register("hitratio", self)

        # One line for `larder-lab --help`.
        SUMMARY = "traces of requests: misses of Larder beside LRU, S3-FIFO, W-TinyLFU, Belady"

        # @param arguments [Array<String>]
        # @return [Integer] exit code
        # @raise [UsageError]
        def run(arguments)
          options = Lab::Hitratio::Options.parse(arguments)
          return show(options.help) if options.help?

          json = options.json && writable(options.json)
          report = Lab::Hitratio::Report.new(replay(options))
          write_json(json, report.json) if json
          show(report.to_s)
        end

        private

        def trace(given, format)
          return Lab::Hitratio::Synthetic.make(given) if Lab::Hitratio::Synthetic.named?(given)

          Lab::Hitratio::Formats.read(given, format)
        end

        def replay(options)
          traces = options.traces.map { |given| trace(given, options.format) }
          Lab::Hitratio::Replay.new(sizes: options.sizes, policies: options.policies, progress: Progress.new(@err),
                                    object_bytes: options.object_bytes).run(traces)
        end
      end
    end
  end
end
