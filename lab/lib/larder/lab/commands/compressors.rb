# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab compressors`: the published comparison of compressors, in both directions and at several levels.
      class Compressors < Suite
        NAME = "compressors"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "time and size of compressors in both directions, on records, text or your data"
        # The suites that it runs.
        SUITES = %w[published-b].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab compressors [options]

          Compresses and decompresses one marshalled Book.all.to_a, as published, and a
          megabyte of JSON. The article measured compressing alone. The report shows its
          figures with the same ones here, and the fastest compressor for each bandwidth.
        TEXT
      end
    end
  end
end
