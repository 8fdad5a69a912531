# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab applications`: whole pages, fragments, records, JSON and counters on every store.
      class Applications < Suite
        NAME = "applications"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "time of pages, fragments, records, JSON and counters on every store"
        # The suites that it runs.
        SUITES = %w[applications].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab applications [options]

          Measures what Rails applications do with a cache, on every store: whole requests
          for pages of cached fragments, fragments whose keys hold Active Record objects,
          records, JSON, counters, and the first reads of a process.
        TEXT
      end
    end
  end
end
