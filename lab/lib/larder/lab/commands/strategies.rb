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
        SUMMARY = "lists of records in Redis by every strategy: cold and warm, and where strategies cross"

        KIND = "strategies"
        ALL = Contestants::STRATEGIES
        PAYLOADS = %w[records].freeze
        OPTIONS = Trials::StrategiesOptions
        # The published ones and Larder's own, on shorter lists.
        MODES = { quick: { only: %w[binary xml json protobuf native], lengths: [2000, 50] },
                  usual: { seconds: 0.05 } }.freeze
        CHAPTER = Trials::Chapters::Strategies
        BANNER = <<~TEXT
          Usage: larder-lab strategies [options]

          Writes lists of records {Id, PropertyA..D} into Redis and reads them, as
          published: the time of the client, with the serializer's. The published figures
          are of first calls; here these are told apart from a warm process's. Sizes and
          the server's own time to answer are the server's.
        TEXT
      end
    end
  end
end
