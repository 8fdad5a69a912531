# frozen_string_literal: true

require_relative "../bench/verdict"
require_relative "../published"
require_relative "../reports/figures"

module Larder
  module Lab
    module SuiteReport
      # The parts of a run that a chapter needs; a {Bench::Conductor} has them, too. absent: rows that were left out;
      # skipped: row and block => why it was not measured; recorded: row => what was recorded of it; spent: seconds.
      Run = Struct.new(:absent, :skipped, :recorded, :spent, keyword_init: true) do
        def initialize(absent: {}, skipped: {}, recorded: {}, spent: {}) = super
      end

      # Looks up what a run has found, and puts its verdicts into clauses and table cells, in the words of
      # {Bench::Verdict}. A row is a name in the registry of the suite, a block is a {Bench::Suite::Block}; nil is what
      # was not measured. A row that broke the rules has nothing that counts, of the sessions before that neither.
      class Findings
        Figures = Reports::Figures

        # base: the row that the others are compared with (nil: none was measured); rows: those that were measured.
        attr_reader :base, :rows

        # @param base [String, nil] a row; nil: that of the suite, or else the first that was measured
        def initialize(plan, samples, run = Run.new, base: nil)
          @samples = samples
          @registry = plan.suite.registry
          @absent, @skipped, @recorded = run.absent, run.skipped, run.recorded
          @all = plan.rows
          @rows = plan.rows.reject { |row| plan.blocks.all? { |block| series(row, block).empty? } }
          @base = [base, plan.suite.base, *@rows].compact.find { |row| @rows.include?(row) }
          @estimates = {}
        end

        # @return [Bench::Stats::Estimate, nil] of the seconds of a call, divided by those of the other row
        def ratio(row, block, other = base, other_block = block)
          @estimates[[row, block.key, other, other_block.key]] ||=
            Bench::Stats.ratio(series(row, block), series(other, other_block))
        end

        # @return [Numeric, nil] the figure with this name that the block has found out, the median of its processes
        def figure(row, block, name)
          all = @recorded.dig(row, "figures", block.key, name)
          all&.sort&.at((all.size - 1) / 2)
        end

        # @return [Array<Hash{String=>Object}>] all figures of each process; none of a row that was left out
        def processes(row, block)
          figures = @absent.key?(row) ? {} : @recorded.dig(row, "figures", block.key).to_h
          figures.values.transpose.map { |values| figures.keys.zip(values).to_h }
        end

        # @return [String, nil] why the row was left out; nil if it was not
        def reason(row)
          absence = @absent[row]
          absence && "#{"invalid, " if absence.state == :invalid}#{absence.reason}"
        end

        # @return [Array(String, String)] a row of a table that says why there are no figures
        def missing(row, block)
          why = reason(row) || @skipped.fetch([row, block.key], "other processes see nothing of its entries")
          [row, "not measured: #{why}"]
        end

        # @return [Bench::Stats::Estimate, nil] of a figure, divided by that of the other row
        def exact_ratio(row, block, other, name)
          one, two = [row, other].map { |each| figure(each, block, name) }
          Bench::Stats.exact(one.fdiv(two), Published::ROUNDING) if one && two
        end

        # @return [Float, nil] seconds that `calls` calls take, in the mean of the first `runs` sessions
        def total(row, block, calls:, runs:)
          found = series(row, block)
          Bench::Stats.mean(found.session_seconds.first(runs)) * calls unless found.empty?
        end

        # @return [Float, nil] seconds of a call
        def seconds(row, block)
          found = series(row, block)
          Bench::Stats.seconds(found) unless found.empty?
        end

        # @return [String] "182 µs"
        def time(row, block) = Reports::Figures.text(seconds(row, block), "seconds")

        # @return [Float, nil] page faults of a call
        def faults(row, block)
          turns = series(row, block).turns
          turns.sum { |turn| turn.faults.to_i }.fdiv(turns.sum(&:calls)) if turns.any?
        end

        # @return [Array<String>] the rows that were measured in the block, the fastest first
        def ranking(block) = rows.select { |row| seconds(row, block) }.sort_by { |row| seconds(row, block) }

        # @return [Hash, String, nil] a cell for the ratio to the base
        def cell(row, block)
          return "1" if row == base

          ratio(row, block)&.then { |estimate| shown(estimate) }
        end

        # @return [Hash, String] a cell for it, with its verdict; an exact one has no interval
        def shown(estimate)
          verdict = Bench::Verdict.of(estimate)
          return Bench::Verdict.words(estimate, Bench::Verdict::MARKS) if verdict == :unknown

          interval = estimate.error.positive? ? { "low" => estimate.low, "high" => estimate.high } : {}
          { "value" => estimate.value, **interval, "verdict" => verdict.to_s, "same" => verdict == :alike }
        end

        # "redis takes 58.1 (55.0–61.2) times as long as larder". `words` are those of each verdict, see
        # {Bench::Verdict}, and `more` is what else they name.
        def clause(row, other, block, words: Bench::Verdict::CLAUSES, **more)
          estimate = ratio(row, block, other)
          verdict = Bench::Verdict.for_an_application(estimate)
          figures = verdict == :unknown ? {} : figures(estimate, ratio(other, block, row))
          format(Bench::Verdict.words(estimate, words), row: name(row), other: name(other), **figures, **more)
        end

        # @return [String] the store for a reader who does not know its key: "Solid Cache on SQLite"; the key itself if
        #   two rows would have the same name
        def name(row)
          @names ||= @all.to_h { |each| [each, short(each)] }
          @names.values.count(@names[row]) == 1 ? @names[row] : row
        end

        private

        def series(row, block) = @absent[row]&.state == :invalid ? Bench::Series.new([]) : @samples.of(row, block.key)

        def figures(estimate, reverse)
          value, low, high = (estimate.value < 1 ? reverse : estimate).to_h.values_at(:value, :low, :high)
                                                                      .map { |each| Figures.significant(each) }
          { times: "#{value} (#{low}–#{high})", detectable: Figures.percent(estimate.detectable - 1.0) }
        end

        def short(row)
          @registry.fetch(row).title.delete_prefix("ActiveSupport::Cache::")[/\A.+?(?= through |: |; | \(|, |\z)/]
        end
      end
    end
  end
end
