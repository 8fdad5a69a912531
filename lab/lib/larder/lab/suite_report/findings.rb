# frozen_string_literal: true

# Puts the verdicts of a run into sentences, table cells and marks. No other place words a comparison.

require_relative "../bench/verdict"
require_relative "../contenders"
require_relative "../reports/figures"

module Larder
  module Lab
    module SuiteReport
      # Rows of one run, compared with one of them.
      class Findings
        Figures = Reports::Figures

        # @return [String, nil] the row that the others are compared with; nil if none was measured
        attr_reader :base
        # @return [Array<String>] the rows that were measured
        attr_reader :rows

        # @param plan [Bench::Plan]
        # @param samples [Bench::Samples]
        # @param base [String, nil] a row; nil: larder, or else the first that was measured
        def initialize(plan, samples, base: nil)
          @samples = samples
          @rows = plan.rows.reject { |row| plan.blocks.all? { |block| samples.of(row, block.key).empty? } }
          @base = [base, "larder", *@rows].compact.find { |row| @rows.include?(row) }
          @estimates = {}
        end

        # @param row [String]
        # @param block [Bench::Suite::Block]
        # @param other [String] a row
        # @param other_block [Bench::Suite::Block] of the other row
        # @return [Bench::Stats::Estimate, nil] of the seconds of a call, divided by those of the other row
        def ratio(row, block, other = base, other_block = block)
          @estimates[[row, block.key, other, other_block.key]] ||=
            Bench::Stats.ratio(@samples.of(row, block.key), @samples.of(other, other_block.key))
        end

        # @param row [String]
        # @param block [Bench::Suite::Block]
        # @param calls [Integer]
        # @param runs [Integer] the sessions whose mean it is, at most
        # @return [Float, nil] seconds that so many calls take; nil if it was not measured
        def total(row, block, calls:, runs:)
          series = @samples.of(row, block.key)
          return if series.empty?

          Bench::Stats.mean(series.session_seconds.first(runs)) * calls
        end

        # @param row [String]
        # @param block [Bench::Suite::Block]
        # @return [Float, nil] seconds of a call; nil if it was not measured
        def seconds(row, block)
          series = @samples.of(row, block.key)
          Bench::Stats.seconds(series) unless series.empty?
        end

        # @param block [Bench::Suite::Block]
        # @return [Float, nil] page faults of a call of this row
        def faults(row, block)
          turns = @samples.of(row, block.key).turns
          turns.sum { |turn| turn.faults.to_i }.fdiv(turns.sum(&:calls)) if turns.any?
        end

        # @param block [Bench::Suite::Block]
        # @return [Array<String>] the rows that were measured in it, the fastest first
        def ranking(block)
          rows.select { |row| seconds(row, block) }.sort_by { |row| seconds(row, block) }
        end

        # @return [Hash, String] a cell for the ratio to the base
        def cell(row, block)
          return "1" if row == base

          estimate = ratio(row, block) or return "–"
          case Bench::Verdict.of(estimate)
          when :unknown then "too busy to tell"
          when :alike then interval(estimate).merge("same" => true)
          else interval(estimate)
          end
        end

        # @param row [String]
        # @param other [String] the row that it is compared with
        # @param block [Bench::Suite::Block]
        # @return [String] a clause: "redis takes 58.1 (55.0–61.2) times as long as larder"
        def clause(row, other, block)
          estimate = ratio(row, block, other)
          case Bench::Verdict.of(estimate)
          when :slower then "#{row} takes #{range(estimate)} times as long as #{other}"
          when :faster then "#{other} takes #{range(ratio(other, block, row))} times as long as #{row}"
          when :alike
            "no difference is shown between #{row} and #{other}; one of #{percent(estimate.detectable)} would have been"
          else "this machine was too busy to tell #{row} from #{other}"
          end
        end

        private

        def interval(estimate)
          { "value" => estimate.value, "low" => estimate.low, "high" => estimate.high }
        end

        def range(estimate)
          "#{Figures.significant(estimate.value)} (#{Figures.significant(estimate.low)}–" \
            "#{Figures.significant(estimate.high)})"
        end

        def percent(ratio)
          Figures.percent(ratio - 1.0)
        end
      end
    end
  end
end
