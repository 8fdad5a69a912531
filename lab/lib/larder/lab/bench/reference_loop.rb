# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Bench
      # The suite of processes that take turns with the rows, whatever block these have, and make laps of a loop of
      # plain Ruby: `compare` divides the times of rows by its own.
      class ReferenceLoop < Suite
        # The name of its row.
        KEY = "reference"
        # The store of these processes, which no lap uses.
        CONTENDER = "null"
        # Laps of a turn where the rows make their first calls.
        COLD = 10
        # Keys of a lap, and how often it goes round them.
        KEYS = 1_000
        TURNS = 10

        # Strings are made and looked up, as every cache call does.
        # @return [Boolean] true
        def self.lap
          kept = {}
          TURNS.times { KEYS.times { |i| kept["reference/#{i}"] ||= "value #{i}" } }
          kept.size == KEYS
        end

        def initialize
          super(KEY)
          block(:lap, "the reference loop", cold: COLD) { call { ReferenceLoop.lap } }
        end

        # The loop, whatever block is asked for.
        def fetch(_key) = blocks.first
      end
    end
  end
end
