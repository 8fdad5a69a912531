# frozen_string_literal: true

require_relative "suite"
require_relative "../suite_report/deploy_chapter"

module Larder
  module Lab
    module Commands
      # `larder-lab deploy`: the first requests after a restart.
      class Deploy < Suite
        NAME = "deploy"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "the first requests after a restart, and with an emptied cache"
        # The suites that it runs.
        SUITES = %w[deploy].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab deploy [options]

          Measures the first 50 requests of a new process, for pages of ten fragments: with
          the cache that the process before it has filled, and with an emptied one; and
          later requests. A fragment that the cache has not got waits 2 ms for its
          queries. The cache of a store inside the process is empty after a restart. The
          report has the time of a request and how many fragments were computed again.
        TEXT

        private

        def chapter_class
          SuiteReport::DeployChapter
        end
      end
    end
  end
end
