# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab overview`: applications, then stores, in one report; `bin/lab` runs it.
      class Overview < Suite
        NAME = "overview"
        Commands.register(NAME, self)

        # Time of `bin/lab` with all servers, once gems are installed; both README files and bin/lab say the same.
        DURATION = "six minutes"
        # One line for `larder-lab --help`.
        SUMMARY = "applications, then stores, in one report: #{DURATION}".freeze
        # The suites that it runs.
        SUITES = %w[applications published-a].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab overview [options]

          Runs the commands applications and stores into one report: whole pages,
          fragments, records, JSON and counters, then the published comparison of Rails
          cache stores.
        TEXT
      end
    end
  end
end
