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
        SUMMARY = "every serializer on records, lists and hashes: both directions, cold and warm, and your own payload"

        KIND = "serializers"
        ALL = Contestants::SERIALIZERS
        PAYLOADS = %w[books records-50 hash].freeze
        MODES = { quick: { only: %w[larder marshal message_pack json], payloads: %w[books hash], count: 300 } }.freeze
        CHAPTER = Trials::Chapters::Serializers
        BANNER = <<~TEXT
          Usage: larder-lab serializers [options]

          Serializes Book.all.to_a again, as published, and a list of 50 records and a
          small Hash: there, back, the round trip, and the first call of a process.
          JSON, XML and Protocol Buffers are given attributes, and bring those back.

          Every codec runs in a fresh process, round after round in random order, and
          what comes back is checked. One whose gem is missing is a row that says so.
        TEXT
      end
    end
  end
end
