# frozen_string_literal: true

require_relative "command"
require_relative "../hitratio/chapter"
require_relative "../hitratio/options"
require_relative "../hitratio/replay"
require_relative "../progress"

module Larder
  module Lab
    module Commands
      # `larder-lab hitratio`: how many requests of a trace miss, in Larder and under other policies.
      class Hitratio < Command
        NAME = "hitratio"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "misses on traces of requests: Larder, LRU, ARC, S3-FIFO, W-TinyLFU, Belady"

        # @param arguments [Array<String>]
        # @return [Lab::Hitratio::Options]
        # @raise [UsageError]
        def options_for(arguments)
          Lab::Hitratio::Options.parse(arguments)
        end

        # @param options [Lab::Hitratio::Options]
        # @return [Document::Chapter]
        def chapter(options)
          traces = options.traces.map { |given| trace(given, options) }
          rows = Lab::Hitratio::Replay.new(
            sizes: options.sizes, policies: options.policies, progress: Progress.new(@err),
            object_bytes: options.object_bytes, published: !options.sized?
          ).run(traces)
          Lab::Hitratio::Chapter.new(rows, facts: facts(options)).to_chapter
        end

        private

        def trace(given, options)
          return Lab::Hitratio::Synthetic.make(given, options.pattern) if Lab::Hitratio::Synthetic.named?(given)

          Lab::Hitratio::Formats.read(given, options.format)
        end

        def facts(options)
          sizes = options.sizes.map(&:to_s).join(", ")
          ["caches of #{sizes}#{" of the bytes of all objects" if options.sizes.all?(&:share?)}",
           ("seed #{options.pattern.fetch(:seed, 1)}" if
             options.traces.any? { |given| Lab::Hitratio::Synthetic.named?(given) })].compact
        end
      end
    end
  end
end
