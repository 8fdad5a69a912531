# frozen_string_literal: true

# Declares the published comparison of serializers, with values that applications cache, and loading by itself.

require_relative "coded"

module Larder
  module Lab
    module Suites
      register("published-c", Bench::Suite.define("published-c") do
        title "Serializers"
        question "How long do serializers take there and back, and which bring back the value itself?"
        registry Codecs::Serializers
        bundle Gemfiles::CODECS
        takes(*Coded::OPTION) { |text| Coded.source(text) }
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
