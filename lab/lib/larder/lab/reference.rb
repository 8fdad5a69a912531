# frozen_string_literal: true

# The reference loop: plain Ruby without a store or codec, whose time tells how fast the machine was during a run.
# `compare` divides by it. It takes turns as a row does, see Bench::ReferenceLoop.

module Larder
  module Lab
    # The code of the loop.
    module Reference
      # The name of its row.
      KEY = "reference"
      # Keys of the loop, and how often it goes round them.
      KEYS = 1_000
      TURNS = 10

      # A lap: strings are made and looked up, as every cache call does.
      # @return [Boolean] true
      def self.go_round
        kept = {}
        TURNS.times { KEYS.times { |i| kept["reference/#{i}"] ||= "value #{i}" } }
        kept.size == KEYS
      end
    end
  end
end
