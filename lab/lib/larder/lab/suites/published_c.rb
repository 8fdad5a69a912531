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
        bundle Gemfiles::CODECS
        takes(*Coded::OPTION, Coded.method(:source))
        answers "round_trip_books", "round_trip_records_50", "round_trip_hash"
        preload { Coded.load("books", "records-50", "hash") }

        ["books", "records-50", "hash", Coded::GIVEN].each do |payload|
          { "dump" => :there?, "load" => :back?, "round trip" => :round_trip? }.each do |heading, calls|
            block("#{heading} #{payload}".tr(" -", "_"), "#{heading}, #{payload}",
                  axes: { "payload" => payload }, heading: heading, given: payload == Coded::GIVEN) do
              setup { |scene| Coded.serialize(scene, payload) }
              call { |scene, _| Coded.public_send(calls, scene) }
            end
          end
        end
      end)
    end
  end
end
