# frozen_string_literal: true

# Owns one measured quantity with its raw samples: what `compare` sets beside the same quantity of another run.

module Larder
  module Lab
    class Document
      # key: stands for the same quantity in every run, parts separated by "/", as "stores/one-thread/hit/redis"; label:
      # for people; unit: "seconds", "bytes", "per second", "share"; better: "lower" or "higher"; samples: one for each
      # round, or a single one; base: key of the measure that this one is to be seen in relation to (nil: none), whose
      # samples are of the same rounds.
      Measure = Struct.new(:key, :label, :unit, :better, :samples, :base, keyword_init: true) do
        # @param hash [Hash{String=>Object}]
        # @return [Measure]
        def self.from_h(hash)
          new(**hash.transform_keys(&:to_sym).slice(*members))
        end
      end
    end
  end
end
