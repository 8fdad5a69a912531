# frozen_string_literal: true

require_relative "../reports/figures"
require_relative "../statistics"

module Larder
  module Lab
    module Trials
      # Reasons for not believing a run.
      class Doubts
        # Rounds that lie further apart than this, relative to their median, are mentioned.
        SPREAD = 0.3
        # Names listed before "and n more".
        LISTED = 4

        # @param results [Results]
        # @param plan [Plan]
        def initialize(results, plan)
          @results = results
          @plan = plan
        end

        # @return [Array<String>] sentences; empty if there is nothing to doubt
        def lines
          [few, load, spread].compact
        end

        private

        def few
          if @plan.rounds == 1
            "A single round has no interval: no difference is shown."
          elsif @plan.rounds < 5
            "#{@plan.rounds} rounds with blocks of #{format("%g", @plan.seconds)} s: an impression, not evidence."
          end
        end

        def load
          average, cores = @results.environment.values_at(:load_average, :cores)
          return unless average && average > 0.7 * cores

          "Other work was running when the run began: load #{average} on #{cores} cores."
        end

        def spread
          wide = blocks.filter_map do |(name, group, operation), samples|
            spread = Statistics.spread(samples.map(&:seconds))
            ["#{name} (#{group}, #{operation}: #{Reports::Figures.percent(spread)})", spread] if spread > SPREAD
          end
          return if wide.empty?

          names = wide.sort_by { |_, spread| -spread }.map(&:first)
          more = names.size > LISTED ? " and #{names.size - LISTED} more" : ""
          "Rounds lay far apart: #{names.first(LISTED).join(", ")}#{more}. The machine was not quiet."
        end

        # First calls of a process lie apart by nature.
        def blocks
          @results.samples.reject { |sample| sample.operation.start_with?("cold ") }
                  .group_by { |sample| [sample.name, sample.group, sample.operation] }
        end
      end
    end
  end
end
