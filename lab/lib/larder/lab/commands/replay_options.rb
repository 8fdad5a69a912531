# frozen_string_literal: true

require_relative "suite_options"
require_relative "../hitratio/formats"

module Larder
  module Lab
    module Commands
      # The options of a suite, and a file.
      class ReplayOptions < SuiteOptions
        private

        def operands(rest)
          raise UsageError, "one FILE at a time: #{rest.join(", ")}" if rest.size > 1

          @settings[:path] = File.expand_path(rest.first) if rest.any?
        end

        # A file is read before anything is measured.
        def choose_settings
          super
          Lab::Hitratio::Formats.trace_of(Lab::Replay.script.recording)
        end
      end
    end
  end
end
