# frozen_string_literal: true

require_relative "trial"
require_relative "../trials/chapters/compressors"

module Larder
  module Lab
    module Commands
      # `larder-lab compressors`: the published comparison of compressors, in both directions and on text as well.
      class Compressors < Trial
        NAME = "compressors"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "every compressor on the published megabyte and on your own, both directions, all levels"

        KIND = "compressors"
        ALL = Contestants::COMPRESSORS
        PAYLOADS = %w[books text].freeze
        # The published ones, and no levels.
        MODES = { quick: { only: %w[none snappy lz4 lz4_flex zstd-3 brotli-5 gzip-6] } }.freeze
        CHAPTER = Trials::Chapters::Compressors
        BANNER = <<~TEXT
          Usage: larder-lab compressors [options]

          Compresses one marshalled Book.all.to_a again, as published, and what was not
          published: back again, on text that repeats itself as text does, the first call
          of a process, and up to which speed of a wire each pays.

          Every codec runs in a fresh process, round after round in random order, and
          what comes back is checked. One whose gem is missing is a row that says so.
        TEXT
      end
    end
  end
end
