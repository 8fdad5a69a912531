# frozen_string_literal: true

require_relative "load"
require_relative "../loads/soak_options"
require_relative "../loads/soak_report"

module Larder
  module Lab
    module Commands
      # `larder-lab soak`.
      class Soak < Load
        NAME = "soak"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "speed and size of a full store that evicts, over time"

        OPTIONS = Loads::SoakOptions
        REPORT = Loads::SoakReport
      end
    end
  end
end
