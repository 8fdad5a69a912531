# frozen_string_literal: true

require_relative "load"
require_relative "../loads/latency_options"
require_relative "../loads/latency_report"

module Larder
  module Lab
    module Commands
      # `larder-lab latency`.
      class Latency < Load
        NAME = "latency"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "latency percentiles of hits and misses, in a closed and an open loop"

        OPTIONS = Loads::LatencyOptions
        REPORT = Loads::LatencyReport
      end
    end
  end
end
