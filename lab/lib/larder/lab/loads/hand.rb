# frozen_string_literal: true

# Does in one process of a crew what it is told to.

require_relative "../contenders"
require_relative "mix"

module Larder
  module Lab
    module Loads
      # A process with the store of one contender.
      class Hand
        # @param job [Hash{String=>Object}] of the worker
        # @param number [Integer] of the process
        def initialize(job, number)
          @job = job
          @number = number
        end

        # @param order [Hash{String=>Object}] "do" => "open", or "mix" with "mix", "start" and "seconds"
        # @return [Hash] the answer
        def serve(order)
          order["do"] == "open" ? open_store(order["endpoint"]) : mix(order)
        end

        private

        def open_store(endpoint)
          type = Contenders.fetch(@job["contender"])
          @store = type.new(dir: @job["dir"], endpoint: endpoint, threads: @job["crew_threads"] || 1).open.store
          Mix.fill(@store) unless type.shared?
          @store.read(["shared", 0]) # connects
          {}
        end

        def mix(order)
          Mix.new(@store, order["mix"], @number).run(order["start"], order["seconds"]).to_h
        end
      end
    end
  end
end
