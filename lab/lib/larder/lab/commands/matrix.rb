# frozen_string_literal: true

require_relative "trial"
require_relative "../trials/cells_options"
require_relative "../trials/chapters/cells"

module Larder
  module Lab
    module Commands
      # `larder-lab matrix`: any serializer with any compressor in any store, end to end.
      class Matrix < Trial
        NAME = "matrix"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "combinations of serializer, compressor and store, and the time of each step"

        KIND = "cells"
        ALL = [].freeze
        PAYLOADS = %w[products].freeze
        OPTIONS = Trials::CellsOptions
        MODES = { quick: { serializers: %w[native message_pack], compressors: %w[none lz4],
                           stores: %w[larder redis memcached], seconds: 0.01 },
                  usual: { seconds: 0.05 } }.freeze
        CHAPTER = Trials::Chapters::Cells
        BANNER = <<~TEXT
          Usage: larder-lab matrix [options]

          Writes and reads a value through the Rails cache API with every chosen
          serializer, compressor and store, and also measures each step alone:
          serialization, compression, and the store's call.
        TEXT
      end
    end
  end
end
