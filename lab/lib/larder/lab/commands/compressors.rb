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
        SUMMARY = "speed and size of compressors on the published megabyte or your data, at all levels"

        KIND = "compressors"
        ALL = TrialContenders::COMPRESSORS
        PAYLOADS = %w[books text].freeze
        # The published ones, and no levels.
        MODES = { quick: { only: %w[none snappy lz4 lz4_flex zstd-3 brotli-5 gzip-6] } }.freeze
        CHAPTER = Trials::Chapters::Compressors
        BANNER = <<~TEXT
          Usage: larder-lab compressors [options]

          Compresses a marshalled Book.all.to_a, as published. In addition it measures
          decompression, text with ordinary repetition, the first call of a process, and
          up to which network bandwidth each compressor saves time.

          Each codec runs in new processes, in several rounds of random order, and its
          result is checked. A codec whose gem is missing has a row with the reason.
        TEXT
      end
    end
  end
end
