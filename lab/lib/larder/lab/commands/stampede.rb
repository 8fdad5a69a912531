# frozen_string_literal: true

require_relative "load"
require_relative "../loads/stampede_options"
require_relative "../loads/stampede_report"

module Larder
  module Lab
    module Commands
      # `larder-lab stampede`.
      class Stampede < Load
        NAME = "stampede"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "how often a value is computed that many callers want at once, and how long they wait"

        OPTIONS = Loads::StampedeOptions
        REPORT = Loads::StampedeReport
      end
    end
  end
end
