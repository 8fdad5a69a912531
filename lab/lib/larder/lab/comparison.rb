# frozen_string_literal: true

# Compares the results of contenders: ratios of paired rounds, the noise floor, and whether a difference is shown at
# all.

require_relative "statistics"
require_relative "targets"

module Larder
  module Lab
    # Compares the rows of a run.
    class Comparison
      # Rows to compare with, in order of preference, where none is asked for.
      PREFERRED = %w[larder memory].freeze

      # @param results [Results]
      def initialize(results)
        @results = results
        @ratios = {}
      end

      # @return [String, nil] name of the row that others are compared with; nil if nothing was measured
      def base
        names = @results.stores.map(&:name)
        [@results.settings.base, *PREFERRED, *names].compact.find { |name| names.include?(name) }
      end

      # How many times as long `row` took as `other`, from the same rounds.
      # @param row [String]
      # @param other [String]
      # @param workload [String]
      # @param pass [String]
      # @return [Statistics::Estimate, nil] nil if either was not measured
      def ratio(row, other, workload, pass)
        @ratios[[row, other, workload, pass]] ||= begin
          mine = @results.per_call(row, workload, pass)
          theirs = @results.per_call(other, workload, pass)
          return nil if mine.empty? || mine.size != theirs.size

          Statistics.estimate(Statistics.paired_ratios(mine, theirs))
        end
      end

      # How far two measurements of the same contender lay apart, as a fraction: smaller differences mean nothing.
      # @param workload [String]
      # @param pass [String]
      # @return [Float, nil] nil if no contender was measured twice, or too few rounds
      def noise(workload, pass)
        return nil unless @results.twins.size == 2

        ratio(*@results.twins, workload, pass)&.noise
      end

      # @param estimate [Statistics::Estimate] from {#ratio}
      # @param workload [String]
      # @param pass [String]
      # @return [Symbol] :slower, :faster, or :none if the interval reaches into the noise, or there is none
      def verdict(estimate, workload, pass)
        floor = 1.0 + [noise(workload, pass) || 0.0, 0.0].max
        return :slower if estimate.low > floor
        return :faster if estimate.high < 1.0 / floor

        :none
      end

      # What a row takes beyond what no store can do without.
      # @param row [String]
      # @param workload [String]
      # @param pass [String]
      # @return [Float, nil] seconds a call; nil where the floor was not measured, and of the floor itself
      def above_floor(row, workload, pass)
        above = @results.block(row, workload, pass).filter_map(&:above_floor)
        Statistics.median(above) unless above.empty?
      end

      # @param target [Targets::Target]
      # @return [Array(Statistics::Estimate, Symbol), nil] what was measured, and :reached, :missed or :open; nil if
      #   either side was not measured
      def judge(target)
        here = ratio(target.contender, "larder", target.workload, target.pass)
        here && [here, target.judge(here)]
      end

      # @return [Array<Results::Row>] rows that were measured in it, the fastest first, those that keep nothing last
      def ranking(workload, pass)
        rows = @results.measured.reject { |row| @results.per_call(row.name, workload, pass).empty? }
        rows.sort_by do |row|
          [Contenders.fetch(row.contender).keeps_values? ? 0 : 1,
           Statistics.median(@results.per_call(row.name, workload, pass))]
        end
      end
    end
  end
end
