# frozen_string_literal: true

require_relative "../bench/verdict"
require_relative "../document"
require_relative "../published"
require_relative "../reports/figures"

module Larder
  module Lab
    module SuiteReport
      Figures = Reports::Figures
      # The parts of a run that a chapter needs; a {Bench::Conductor} has them, too. absent: rows that were left out;
      # skipped: row and block => why it was not measured; recorded: row => what was recorded of it; spent: seconds.
      Run = Struct.new(:absent, :skipped, :recorded, :spent, keyword_init: true) do
        def initialize(absent: {}, skipped: {}, recorded: {}, spent: {}) = super
      end

      # Looks up what a run has found, and puts its verdicts into clauses and table cells, in the words of
      # {Bench::Verdict}. A row is a name in the registry of the suite, a block is a {Bench::Suite::Block}; nil is what
      # was not measured. A row that broke the rules has nothing that counts, of the sessions before that neither.
      class Findings
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
          all = @recorded.dig(row, "figures", block.key, name) unless invalid?(row)
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

        def seconds(row, block)
          found = series(row, block)
          Bench::Stats.seconds(found) unless found.empty?
        end

        # @return [String] "182 µs"
        def time(row, block) = Figures.text(seconds(row, block), "seconds")

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

        # "Redis takes 58.1 (55.0–61.2) times as long as Larder".
        def clause(row, other, block)
          estimate = ratio(row, block, other)
          verdict = Bench::Verdict.for_an_application(estimate)
          figures = verdict == :unknown ? {} : figures(estimate, ratio(other, block, row))
          slow = name(estimate && estimate.value < 1 ? other : row)
          format(Bench::Verdict.words(estimate, Bench::Verdict::CLAUSES),
                 row: name(row), other: name(other), slow: slow, **figures)
        end

        # @return [String] the store for a reader who does not know its key: "Solid Cache on SQLite"; the key itself if
        #   two rows would have the same name
        def name(row)
          @names ||= @all.to_h { |each| [each, short(each)] }
          @names.values.count(@names[row]) == 1 ? @names[row] : row
        end

        private

        def invalid?(row) = @absent[row]&.state == :invalid

        def series(row, block) = invalid?(row) ? Bench::Series.new([]) : @samples.of(row, block.key)

        def figures(estimate, reverse)
          value, low, high = (estimate.value < 1 ? reverse : estimate).to_h.values_at(:value, :low, :high)
                                                                      .map { |each| Figures.significant(each) }
          { times: "#{value} (#{low}–#{high})", detectable: Figures.percent(estimate.detectable - 1.0) }
        end

        def short(row)
          @registry.fetch(row).title.delete_prefix("ActiveSupport::Cache::")[/\A.+?(?= through |: |; | \(|, |\z)/]
        end
      end

      # Sets the findings and tables of the {Published::Article} that a suite repeats against the same ratios and
      # figures on this machine. All of them are listed, measured here or not.
      class PublishedFindings
        def initialize(plan, findings)
          @suite = plan.suite
          @article = Published.of(@suite.key)
          @findings = findings
        end

        FIRST = "first: the first call of a process; warm: later ones."

        # @return [String] a sentence with how many findings hold
        def summary
          counts = @article.findings.map { |finding| outcome(*cells(finding).last(2)) }.tally
          found = counts.sort_by { |_, count| -count }.map { |outcome, count| "#{count} #{outcome}" }
          "The article has #{@article.findings.size} findings; here: #{found.join(", ")}."
        end

        # @return [Array<Document::Table>] the published tables, each figure with the same one here
        def tables = @article.tables.map { |table| table(table) }

        # @return [Document::Table] each finding with the same ratio here
        def comparison
          Document::Table.new(columns: ["a/b", ["published", "number"], ["here", "ratio"], ""],
                              rows: @article.findings.map { |finding| cells(finding) },
                              notes: ["a/b: how many times as fast a is as b, or as small.",
                                      "Published: #{@article.source}.", *@article.remarks])
        end

        # @return [Document::Table, nil] seconds of all calls, as the article gave them; nil if it gave none
        def totals
          calls, blocks = @article.totals&.values_at("calls", "blocks")
          return unless calls

          blocks = blocks.map { |key| @suite.fetch(key) }
          columns = blocks.map do |block|
            operation, threads = block.short.split(", ")
            { title: operation, format: "seconds", group: threads }
          end
          rows = @findings.rows.map { |row| [row, *blocks.map { |block| @findings.seconds(row, block)&.*(calls) }] }
          Document::Table.new(columns: ["", *columns], rows: rows,
                              caption: "Seconds of #{Figures.thousands(calls)} calls")
        end

        private

        # The outcome of a finding, as its last two cells have it.
        def outcome(here, agreement)
          return agreement unless agreement.empty?

          here.is_a?(Hash) ? "without a published factor" : here
        end

        # The pair that differs least, where a finding has several: if it shows a difference, all do.
        def cells(finding)
          estimates = finding.pairs.filter_map do |faster, slower, block|
            estimate(finding, faster, slower, @suite.fetch(block))
          end
          estimate = estimates.min_by(&:value)
          cell = estimate ? @findings.shown(estimate) : "not measured"
          [name(finding), finding.words, cell, cell.is_a?(Hash) ? agreement(finding, estimate) : ""]
        end

        def estimate(finding, faster, slower, block)
          return @findings.exact_ratio(slower, block, faster, finding.figure) if finding.figure

          @findings.ratio(slower, block, faster, @suite.fetch(finding.block))
        end

        def name(finding)
          return finding.label if finding.label

          block = @suite.fetch(finding.block)
          about = finding.figure ? [finding.figure, *block.axes.values].join(", ") : block.short
          "#{short(finding.faster)}/#{short(finding.slower)}: #{about}"
        end

        def short(rows) = rows.is_a?(Array) ? "next" : @article.short.fetch(rows, rows)

        # A difference in the published direction is "less so" or "more so" if the interval does not hold the factor.
        def agreement(finding, estimate)
          return "" if finding.factor == Published::NOT_GIVEN

          verdict = Bench::Verdict.of(estimate)
          return verdict == :alike ? "as published" : "otherwise" if finding.alike?
          return verdict == :faster ? "reversed" : "otherwise" unless verdict == :slower
          return "as published" unless finding.factor.is_a?(Numeric)
          return "less so" if estimate.high < finding.factor

          estimate.low > finding.factor ? "more so" : "as published"
        end

        def table(table)
          return pairs(table) if table.ratio

          rows = table.rows.map do |row, (title, *there)|
            [title, *table.columns.zip(there).flat_map { |column, figure| figures(table, row, column, figure) }]
          end
          columns = ["", *table.columns.flat_map { |column| headings(column) }]
          Document::Table.new(caption: table.caption, columns: columns, rows: rows,
                              notes: columns.any? { |title, _| title == "first" } ? [FIRST] : [])
        end

        # A line for each column of the article, with the figures of two rows and their ratio.
        def pairs(table)
          titles = [*table.rows.values_at(*table.ratio).map(&:first), "a/b"]
          columns = titles.zip(%w[number number ratio]).flat_map do |title, format|
            %w[there here].zip(["number", format]).map { |name, kind| { title: name, group: title, format: kind } }
          end
          rows = table.columns.each.with_index(1).map { |column, at| [column.title, *pair(table, column, at)] }
          Document::Table.new(caption: table.caption, columns: ["", *columns], rows: rows,
                              notes: ["a/b: #{titles.first(2).join("/")}, as the published ratio is."])
        end

        def pair(table, column, at)
          there = table.rows.values_at(*table.ratio).map { |row| row[at] }
          one, other = table.ratio
          estimate = @findings.ratio(one, @suite.fetch(column.of.first), other)
          [*table.ratio.zip(there).flat_map { |row, figure| figures(table, row, column, figure) },
           format("%.2f", there.reduce(:/)), estimate ? @findings.shown(estimate) : "not measured"]
        end

        def headings(column)
          titles = column.of.map { |key| @suite.fetch(key).cold ? "first" : "warm" }
          titles = ["here"] if titles.one?
          [[column.title, "number"], *titles.product([column.format])]
        end

        # The published one, with the digits of the article, and those measured here.
        def figures(table, row, column, there)
          here = column.of.map { |key| @suite.fetch(key) }.map do |block|
            next @findings.figure(row, block, column.here) if column.here

            @findings.seconds(row, block)&.*(table.calls)
          end
          [there.is_a?(Integer) ? Figures.thousands(there) : there&.to_s, *here]
        end
      end
    end
  end
end
