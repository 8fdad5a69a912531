# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab matrix`: any serializer with any compressor in any store.
      class Matrix < Suite
        NAME = "matrix"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "any serializer × compressor × store, end to end, and the store's own part"
        # The suites that it runs.
        SUITES = %w[matrix].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab matrix [options]

          Reads and writes 50 products, or your data, in stores that have a serializer and
          a compressor, and the same bytes in the same stores without: the store's part.
        TEXT
      end
    end
  end
end
