# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab scaling`.
      class Scaling < Suite
        NAME = "scaling"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "throughput with 1, 2 and 4 threads and processes"
        # The suites that it runs.
        SUITES = %w[scaling].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab scaling [options]

          Measures how many calls a second a store answers with more callers: threads of
          one process, and processes that use the same file or server. It measures hits
          only, and 95 hits to 5 writes, on keys that all callers share. "4 to 1" is the
          throughput of four callers as a multiple of that of one. A store that is private
          to a process has a copy in each.
        TEXT
      end
    end
  end
end
