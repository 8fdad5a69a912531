# frozen_string_literal: true

require "json"

module Larder
  module Lab
    module Trials
      # The report for machines, raw samples included.
      class Json
        # @param results [Results]
        def initialize(results)
          @results = results
        end

        # @return [String]
        def to_s
          plan = @results.plan
          JSON.pretty_generate(
            command: plan.kind, rounds: plan.rounds, block_seconds: plan.seconds, seed: plan.seed,
            environment: @results.environment, versions: @results.versions, elapsed_seconds: @results.elapsed,
            sizes: sizes, samples: @results.samples.map(&:to_h), rejected: rejected
          )
        end

        private

        def sizes
          @results.plan.groups.flat_map do |group|
            @results.measured(group).map { |name| { name: name, group: group, **@results.size(name, group).to_h } }
          end
        end

        def rejected
          @results.rejected.map { |name, group, error| { name: name, group: group, reason: error.message } }
        end
      end
    end
  end
end
