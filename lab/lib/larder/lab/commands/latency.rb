# frozen_string_literal: true

require_relative "suite"
require_relative "tails_options"
require_relative "../suite_report/tails_chapter"

module Larder
  module Lab
    module Commands
      # `larder-lab latency`: how slow the slowest calls are.
      class Latency < Suite
        NAME = "latency"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "how slow the slowest calls are, at one rate for all stores and back to back"
        # The suites that it runs.
        SUITES = %w[tails].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab latency [options]

          Measures the latency of single calls, up to the slowest of some thousands:

            Rails.cache.fetch(["key", i], expires_in: 5.minutes) { "Hello World!" }

          At a rate: calls are due at the same random times on every store, and latency
          counts from when a call was due, so that a stall affects all calls that were
          due in between, as it does for users ("coordinated omission"). Back to back:
          each call begins when the one before has ended, and a stall affects one call.
        TEXT

        private

        def parsed(arguments)
          TailsOptions.new(self.class::SUITES, self.class::BANNER).parse(arguments)
        end

        def chapter_class
          SuiteReport::TailsChapter
        end
      end
    end
  end
end
