# frozen_string_literal: true

require_relative "load"
require_relative "../loads/scaling_options"
require_relative "../loads/scaling_report"

module Larder
  module Lab
    module Commands
      # `larder-lab scaling`.
      class Scaling < Load
        NAME = "scaling"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "throughput with 1, 2, 4 and more threads and processes"

        OPTIONS = Loads::ScalingOptions
        REPORT = Loads::ScalingReport
      end
    end
  end
end
