# frozen_string_literal: true

# The base of loads: their place in a worker, the events that they emit, and how a wrong value is reported.

require_relative "../clock"
require_relative "../errors"

module Larder
  module Lab
    module Loads
      # A way of calling a store. A subclass registers itself and implements {#run}.
      class Load
        include Clock

        # @param job [Hash{String=>Object}]
        # @param emit [#call] takes the name of an event and its fields
        def initialize(job, emit)
          @job = job
          @emit = emit
        end

        # What must be done before anything of a store is loaded.
        # @return [void]
        def prepare; end

        # @param contender [Contender] opened and proved
        # @return [void]
        # @raise [Invalid] at a wrong value
        def run(contender)
          @contender = contender
          measure
        end

        private

        attr_reader :job, :contender

        def measure
          raise NotImplementedError, "#{self.class} does not say what it measures"
        end

        def emit(event, **fields)
          @emit.call(event, **fields)
        end

        def store
          contender.store
        end

        def keeps?
          contender.class.keeps_values?
        end

        def wrong!(key, found, expected)
          raise Invalid, "a wrong value: #{shown(found)} instead of #{shown(expected)} for #{key.inspect}"
        end

        def shown(value)
          text = value.inspect
          text.size > 80 ? "#{text[0, 80]}..." : text
        end
      end
    end
  end
end
