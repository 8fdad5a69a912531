# frozen_string_literal: true

require_relative "trial"
require_relative "../trials/chapters/serializers"

module Larder
  module Lab
    module Commands
      # `larder-lab serializers`: the published comparison of serializers, with what each brings back.
      class Serializers < Trial
        NAME = "serializers"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "speed and size of serializers on records, lists, hashes or your data, cold and warm"

        KIND = "serializers"
        ALL = TrialContenders::SERIALIZERS
        PAYLOADS = %w[books records-50 hash].freeze
        MODES = { quick: { only: %w[larder marshal message_pack json], payloads: %w[books hash], count: 300 } }.freeze
        CHAPTER = Trials::Chapters::Serializers
        BANNER = <<~TEXT
          Usage: larder-lab serializers [options]

          Serializes Book.all.to_a, as published, a list of 50 records and a small Hash.
          It measures both directions, the round trip, and the first call of a process.
          JSON, XML and Protocol Buffers store attributes and return attributes.

          Each codec runs in new processes, in several rounds of random order, and its
          result is checked. A codec whose gem is missing has a row with the reason.
        TEXT
      end
    end
  end
end
