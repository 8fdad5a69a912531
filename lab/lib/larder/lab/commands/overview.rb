# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # Time of `bin/lab` with all servers, once gems are installed; both README files and bin/lab say the same.
      DURATION = "six minutes"

      # `larder-lab overview`: two suites in one report; `bin/lab` runs it.
      Suite.of("overview", "applications, then stores, in one report: #{DURATION}", <<~TEXT,
        Runs the commands applications and stores into one report: whole pages,
        fragments, records, JSON and counters, then the published comparison of Rails
        cache stores.
      TEXT
               %w[applications published-a])
    end
  end
end
