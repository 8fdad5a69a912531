# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # No store, but what a call costs with any: asking the records in a key, making the value, sending events. What a
      # store takes beyond it is the store's own. Workloads that know theirs have a method `floor`, which each store's
      # process measures beside the store. Not in the registry: a row of this name has the samples that were measured
      # beside the row with which all are compared.
      class Floor < Contender
        @key = "floor"
        @title = "no store: what a call costs that no store can do without"
        private_to_process

        # @return [Boolean]
        def self.floor?
          true
        end
      end
    end
  end
end
