# frozen_string_literal: true

# Declares the published comparison of serializers, with values that applications cache, and loading by itself.

require_relative "coded"

module Larder
  module Lab
    module Suites
      register("published-c", Bench::Suite.define("published-c") do
        title "Serializers"
        command "serializers", "time and size of serializers on records, lists, hashes or your data", <<~TEXT
          Serializes Book.all.to_a, as published, a list of 50 records and a small Hash,
          and loads them again. JSON, XML and Protocol Buffers store attributes and bring
          back attributes, not the records.
        TEXT
        question "How long do serializers take there and back, and which bring back the value itself?"
        registry Codecs::Serializers
        answers "round_trip_books", "round_trip_records_50", "round_trip_hash"
        Coded.declare(self, %w[books records-50 hash], Coded.method(:serialize),
                      { "dump" => Coded::THERE, "load" => Coded::BACK, "round trip" => Coded::ROUND_TRIP })
      end)
    end
  end
end
