# frozen_string_literal: true

# One measured quantity with its raw samples, which `compare` compares with the same quantity of another run.

module Larder
  module Lab
    class Document
      # Of measures.
      UNITS = ["seconds", "bytes", "per second", "share", "count"].freeze

      # key: stands for the same quantity in every run, parts separated by "/", as "stores/one-thread/hit/redis"; label:
      # for people; unit: one of {UNITS}; better: "lower" or "higher"; samples: one for each
      # round, or a single one; base: key of the measure of its chapter that this one is to be seen in relation to
      # beside another run, {Reference::KEY} where the machine's speed matters (nil: none).
      Measure = Struct.new(:key, :label, :unit, :better, :samples, :base, keyword_init: true) do
        # @raise [ArgumentError] for a unit that the schema does not have
        def initialize(unit:, **fields)
          known = Document::UNITS
          raise ArgumentError, "unknown unit #{unit}; known: #{known.join(", ")}" unless known.include?(unit)

          super
        end

        # @param hash [Hash{String=>Object}]
        # @return [Measure]
        def self.from_h(hash)
          new(**hash.transform_keys(&:to_sym).slice(*members))
        end
      end
    end
  end
end
