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
        SUMMARY = "full and evicting for a while: does it slow down, does it grow?"

        OPTIONS = Loads::SoakOptions
        REPORT = Loads::SoakReport
      end
    end
  end
end
