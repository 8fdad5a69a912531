# frozen_string_literal: true

# Finds the reasons to doubt a run that all comparisons share: a busy machine, too few rounds, rounds that differ
# much.

require_relative "reports/figures"
require_relative "statistics"

module Larder
  module Lab
    # Sentences; nil where there is no warning.
    module Warnings
      # Load for each core from which on other work is suspected.
      BUSY = 0.7
      # Rounds that lie further apart than this, relative to their median, are mentioned.
      SPREAD = 0.3
      # Rounds of which an interval is nearly what is usual.
      ENOUGH = 5
      # Names listed before "and n more".
      LISTED = 4

      module_function

      # @param environment [Hash{Symbol=>Object}] see {Environment}
      # @return [String, nil]
      def busy(environment)
        average, cores = environment.values_at(:load_average, :cores)
        return unless average && average > BUSY * cores

        "Other work was running when the run began: load #{average} on #{cores} cores."
      end

      # @param rounds [Integer]
      # @return [String, nil]
      def few(rounds)
        if rounds < Statistics::LEAST
          return "#{rounds == 1 ? "A single round has" : "Two rounds have"} no interval: no difference is shown."
        end
        return if rounds >= ENOUGH

        held = (100 * Statistics.confidence_of(rounds)).floor
        "The interval of #{rounds} rounds is their range, which holds the true median in #{held} of 100 runs: " \
          "an impression, not evidence."
      end

      # @param blocks [Enumerable<Array(Array<String>, Array<Numeric>)>] a row and its step, and what each round
      #   measured there
      # @return [String, nil]
      def far_apart(blocks)
        wide = blocks.map { |(row, *step), samples| [row, step, Statistics.spread(samples)] }
                     .select { |*, spread| spread > SPREAD }.sort_by { |*, spread| -spread }
        return if wide.empty?

        names = wide.first(LISTED).map do |row, step, spread|
          "#{row} (#{step.join(", ")}: #{Reports::Figures.percent(spread)})"
        end
        more = wide.size > LISTED ? " and #{wide.size - LISTED} more" : ""
        "Rounds lay far apart: #{names.join(", ")}#{more}. The machine was not quiet."
      end
    end
  end
end
