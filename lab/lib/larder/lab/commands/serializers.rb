# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab serializers`: the published comparison of serializers, with what each brings back.
      class Serializers < Suite
        NAME = "serializers"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "time and size of serializers on records, lists, hashes or your data"
        # The suites that it runs.
        SUITES = %w[published-c].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab serializers [options]

          Serializes Book.all.to_a, as published, a list of 50 records and a small Hash,
          and loads them again. JSON, XML and Protocol Buffers store attributes and bring
          back attributes, not the records.
        TEXT
      end
    end
  end
end
