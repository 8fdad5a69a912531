# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab strategies`: the published comparison of strategies by type, lists of records in Redis.
      class Strategies < Suite
        NAME = "strategies"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "ways to store lists of records in Redis, cold and warm, by length"
        # The suites that it runs.
        SUITES = %w[published-d].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab strategies [options]

          Writes lists of 50,000, 1,000 and 50 records {Id, PropertyA..D} to Redis and
          reads them, as published, with a limit of 50 MB and an expiry. The published
          figures are of first calls; first calls and later ones are measured apart. Sizes
          are those that Redis reports. --quick leaves out lists of 50,000.
        TEXT
      end
    end
  end
end
