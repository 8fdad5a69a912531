# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab stores`: the published comparison of cache stores, as published and corrected.
      class Stores < Suite
        NAME = "stores"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "time of Rails.cache.fetch on every store: misses, hits, writes, one thread and several"
        # The suites that it runs.
        SUITES = %w[published-a].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab stores [options]

          The published comparison of Rails cache stores, on this machine:

            Rails.cache.fetch(["key", i], expires_in: 5.minutes) { "Hello World!" }

          A miss runs the block and writes; a hit reads. With one thread, with five threads
          as published, where each counts from 0, and with five threads as corrected: misses
          of keys of their own, hits of shared keys.
        TEXT
      end
    end
  end
end
