# frozen_string_literal: true

require_relative "load"
require_relative "../loads/percentiles_options"
require_relative "../loads/percentiles_report"

module Larder
  module Lab
    module Commands
      # `larder-lab percentiles`.
      class Percentiles < Load
        NAME = "percentiles"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "latencies of hits and misses, and of the slowest; closed and open loop"

        OPTIONS = Loads::PercentilesOptions
        REPORT = Loads::PercentilesReport
      end
    end
  end
end
