# frozen_string_literal: true

require_relative "suite_options"
require_relative "../hitratio/formats"
require_relative "../hitratio/size"

module Larder
  module Lab
    module Commands
      # The options of a suite, a file, and how it is replayed.
      class ReplayOptions < SuiteOptions
        private

        def operands(rest)
          raise UsageError, "one FILE at a time: #{rest.join(", ")}" if rest.size > 1

          replayed[:path] = File.expand_path(rest.first) if rest.any?
        end

        def understood
          Lab::Replay.choose(**replayed)
          Lab::Hitratio::Formats.trace_of(Lab::Replay.script.recording) unless list?
          super
        end

        # Settings of Lab::Replay, which has the usual ones.
        def replayed
          @replayed ||= {}
        end

        def amounts
          @bytes ? { **super, size: @bytes } : super
        end

        def amount_options(options)
          super
          options.separator("\nThe recording:")
          usual = Lab::Replay::USUAL
          options.on("--calls N", Integer, "calls that are read (default #{usual[:calls]})") do |n|
            replayed[:calls] = positive("--calls", n)
          end
          options.on("--speed N", Float, "how many times as fast as recorded", "(default 1)") do |n|
            replayed[:speed] = some("--speed", n)
          end
          options.on("--window S", Float, "seconds that are replayed at the recorded times",
                     "in each session (default #{usual[:window].round}, at most #{LONGEST})") do |seconds|
            replayed[:window] = block_seconds("--window", seconds)
          end
          options.on("--size BYTES", "room of each store, as 64MiB (default 256MiB)") do |text|
            size = Lab::Hitratio::Size.parse(text)
            raise UsageError, "--size #{text}: say bytes as 64MiB" if size.share?

            @bytes = size.bytes_of(0)
          end
        end
      end
    end
  end
end
