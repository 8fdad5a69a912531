# frozen_string_literal: true

# The targets for the speed of Larder. Each is judged from the present run.

require_relative "statistics"

module Larder
  module Lab
    # What Larder promises against other stores, with one thread.
    module Targets
      # `contender` shall take at least `factor` times as long as larder.
      Target = Struct.new(:contender, :workload, :pass, :factor, keyword_init: true) do
        # @param estimate [Statistics::Estimate] how many times as long it took
        # @return [Symbol] :reached, :missed, or :open if the interval holds the target
        def judge(estimate)
          return :reached if estimate.low >= factor
          return :missed if estimate.high < factor

          :open
        end
      end

      # @return [Array<Target>]
      ALL = [
        ["litecache", "one-thread", "hit", 1.2],
        ["redis", "one-thread", "hit", 4.0],
        ["litecache", "one-thread", "miss", 2.0]
      ].map { |row| Target.new(**%i[contender workload pass factor].zip(row).to_h).freeze }.freeze
    end
  end
end
