# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab network`: what round-trip time and bandwidth do to each store and codec.
      class Network < Suite
        NAME = "network"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "effect of round-trip time and bandwidth on stores and codecs"
        # The suites that it runs.
        SUITES = %w[wire].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab network [options]

          Reads and writes 12 bytes and 10 KB behind a proxy that adds a round-trip time,
          half of it in each direction, and then a megabyte with and without compression
          behind one that limits the bandwidth. Stores without a server have no network
          and take turns with the others. The report compares what was measured with a
          simple model: a nearer call, plus a round trip, plus the bits by the bandwidth.
        TEXT
      end
    end
  end
end
