# frozen_string_literal: true

require_relative "trial"
require_relative "../trials/cells_options"
require_relative "../trials/cells_text"

module Larder
  module Lab
    module Commands
      # `larder-lab matrix`: any serializer with any compressor in any store, end to end.
      class Matrix < Trial
        Commands.register("matrix", self)

        # One line for `larder-lab --help`.
        SUMMARY = "any serializer × compressor × store end to end, and where the time goes"

        KIND = "cells"
        ALL = [].freeze
        PAYLOADS = %w[records-50].freeze
        OPTIONS = Trials::CellsOptions
        TEXT = Trials::CellsText
        BANNER = <<~TEXT
          Usage: larder-lab matrix [options]

          Writes and reads a value through Rails' cache API with every chosen serializer,
          compressor and store, and measures each step by itself: where a store's call
          hides serializing and compressing, this shows them.
        TEXT
      end
    end
  end
end
