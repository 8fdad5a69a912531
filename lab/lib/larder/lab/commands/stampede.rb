# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab stampede`.
      class Stampede < Suite
        NAME = "stampede"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "how often a value is computed that many callers want at once, and how long they wait"
        # The suites that it runs.
        SUITES = %w[stampede].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab stampede [options]

          Measures what happens when many callers want one key at once. Several processes
          with several threads each call, at the same moment,

            Rails.cache.fetch(key, expires_in: 60) { sleep 0.05; value }

          absent   How often does the block run, how long do callers wait, and how much
                   processor time do those take who wait ("CPU/wait")? "no value" counts
                   callers who got nil or an empty answer.
          killed   The process that runs the block is killed at a random moment of it,
                   where a store has one caller compute: larder-single-flight and
                   memcached-lock.
          expired  As many processes as there are cores read a value back to back while it
                   expires and is computed again: with stale_while_revalidate in
                   larder-single-flight, with race_condition_ttl in Rails' stores.
        TEXT
      end
    end
  end
end
