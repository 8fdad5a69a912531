# frozen_string_literal: true

require_relative "../hitratio/options"
require_relative "../hitratio/replay"
require_relative "../hitratio/report"
require_relative "../progress"

module Larder
  module Lab
    module Commands
      # `larder-lab hitratio`: how many requests of a trace miss, in Larder and under other policies.
      class Hitratio
        Commands.register("hitratio", self)

        # One line for `larder-lab --help`.
        SUMMARY = "traces of requests: misses of Larder beside LRU, S3-FIFO, W-TinyLFU, Belady"

        # @param out [Terminal] for results
        # @param err [Terminal] for progress
        def initialize(out, err)
          @out = out
          @err = err
        end

        # @param arguments [Array<String>]
        # @return [Integer] exit code
        # @raise [UsageError]
        def run(arguments)
          options = Lab::Hitratio::Options.parse(arguments)
          if options.help?
            @out.puts(options.help)
            return CLI::OK
          end
          json = options.json && File.open(options.json, "w")
          report(replay(options), json, options)
        rescue SystemCallError => error
          raise UsageError, "--json #{options.json}: #{error.message}"
        ensure
          json&.close
        end

        private

        def replay(options)
          traces = options.traces.map { |path| Lab::Hitratio::Trace.read(path) }
          Lab::Hitratio::Replay.new(sizes: options.sizes, policies: options.policies, progress: Progress.new(@err),
                                    object_bytes: options.object_bytes).run(traces)
        end

        def report(rows, json, options)
          report = Lab::Hitratio::Report.new(rows)
          if json
            json.write(report.json)
            @err.puts("wrote #{options.json}")
          end
          @out.puts(report.to_s)
          CLI::OK
        end
      end
    end
  end
end
