# frozen_string_literal: true

require_relative "load"
require_relative "../loads/endurance_options"
require_relative "../loads/endurance_report"

module Larder
  module Lab
    module Commands
      # `larder-lab endurance`.
      class Endurance < Load
        NAME = "endurance"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "full and evicting for a while: does it slow down, does it grow?"

        OPTIONS = Loads::EnduranceOptions
        REPORT = Loads::EnduranceReport
      end
    end
  end
end
