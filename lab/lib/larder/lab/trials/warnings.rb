# frozen_string_literal: true

require_relative "../warnings"
require_relative "comparison"

module Larder
  module Lab
    module Trials
      # Reasons for not believing a run.
      class Warnings
        # @param results [Results]
        # @param plan [Plan]
        def initialize(results, plan)
          @results = results
          @plan = plan
        end

        # @return [Array<String>] sentences
        def lines
          [Lab::Warnings.few(@plan.rounds), noise, Lab::Warnings.busy(@results.environment),
           Lab::Warnings.far_apart(blocks)].compact
        end

        private

        def noise
          worst = blocks.keys.map { |_, group, operation| Comparison.new(@results, group).noise(operation) }.max
          return unless worst&.positive?

          "Noise: two measurements of one codec lay up to #{Reports::Figures.percent(worst)} apart; differences " \
            "within a step's own noise are not shown as differences (≈)."
        end

        # First calls of a process lie apart by nature.
        def blocks
          @results.samples.reject { |sample| sample.operation.start_with?("cold ") }
                  .group_by { |sample| [sample.name, sample.group, sample.operation] }
                  .transform_values { |samples| samples.map(&:seconds) }
        end
      end
    end
  end
end
