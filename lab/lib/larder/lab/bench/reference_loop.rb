# frozen_string_literal: true

# The loop of plain Ruby that takes turns with the rows: `compare` divides their times by its own.

require_relative "../reference"
require_relative "suite"

module Larder
  module Lab
    module Bench
      # The suite of the reference's processes: they make laps of the loop, whatever block the rows have.
      # @api private
      class ReferenceLoop < Suite
        # The store of these processes, which no lap uses.
        CONTENDER = "null"
        # Laps of a turn where the rows make their first calls.
        COLD = 10

        def initialize
          super(Reference::KEY)
          block(:lap, "the reference loop", cold: COLD) { call { Reference.go_round } }
        end

        # The loop, whatever block is asked for.
        def fetch(_key) = blocks.first
      end
    end
  end
end
