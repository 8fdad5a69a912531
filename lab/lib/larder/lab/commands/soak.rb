# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab soak`.
      class Soak < Suite
        NAME = "soak"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "speed and size of a full store that evicts, over time"
        # The suites that it runs.
        SUITES = %w[soak].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab soak [options]

          Measures a full store over time. Each store gets little room, is filled with
          twice as much, and is then read by a Zipf distribution; an evicted object is
          written again. The report shows throughput, the slowest call in a thousand,
          memory and disk over time, and whether the second half is slower than the first.

          Objects are 900 random bytes. A store that uses more than three times its size
          on disk has no limit, and is not measured.
        TEXT
      end
    end
  end
end
