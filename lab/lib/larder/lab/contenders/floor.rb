# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # No store, but what a call costs with any: asking the records in a key, making the value, sending events. What a
      # store takes beyond it is the store's own. Workloads that know theirs have a method `floor`. Not in the registry:
      # `larder-lab stores` adds it where it is known.
      class Floor < Contender
        @key = "floor"
        @title = "no store: what a call costs that no store can do without"
        private_to_process

        # @return [Boolean]
        def self.floor?
          true
        end

        # Nothing is stored.
        # @return [void]
        def clear; end

        private

        def open_store; end
      end
    end
  end
end
