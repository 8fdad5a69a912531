# frozen_string_literal: true

require_relative "trial"
require_relative "../trials/strategies_options"
require_relative "../trials/chapters/strategies"

module Larder
  module Lab
    module Commands
      # `larder-lab strategies`: the published comparison of strategies by type, lists of records in Redis.
      class Strategies < Trial
        NAME = "strategies"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "ways to store lists of records in Redis, cold and warm, by length"

        KIND = "strategies"
        ALL = TrialContenders::STRATEGIES
        PAYLOADS = %w[records].freeze
        OPTIONS = Trials::StrategiesOptions
        # The published ones and Larder's own, on shorter lists.
        MODES = { quick: { only: %w[binary xml json protobuf native], lengths: [2000, 50] },
                  usual: { seconds: 0.05 } }.freeze
        CHAPTER = Trials::Chapters::Strategies
        BANNER = <<~TEXT
          Usage: larder-lab strategies [options]

          Writes lists of records {Id, PropertyA..D} to Redis and reads them, as
          published. Times are those of the client, serialization included. The published
          figures are of first calls; this shows first calls and warm calls separately.
          Redis itself reports the sizes and its own response time.
        TEXT
      end
    end
  end
end
