# frozen_string_literal: true

# Sets the findings of a published comparison against the same ratios on this machine.

require_relative "../bench/verdict"
require_relative "../document"
require_relative "../published"
require_relative "findings"

module Larder
  module Lab
    module SuiteReport
      # The findings of {Published} whose suite was run. All of them are listed, measured here or not.
      class PublishedFindings
        # Two names and a block have room in a cell.
        SHORT = { "solid_cache" => "sqlite", "solid_cache-postgresql" => "pg",
                  "solid_cache-postgresql-tuned" => "pg-tuned" }.freeze
        NOTES = ["a/b: how many times as fast a is as b.",
                 "Published: #{Published::SOURCE}.",
                 "sqlite, pg and pg-tuned: Solid Cache on SQLite, on PostgreSQL and on tuned PostgreSQL.",
                 "next: the nearest of #{Published::SERVERS.join(", ")}, or of all stores that were faster than pg.",
                 *Published::REMARKS].freeze
        private_constant :SHORT, :NOTES

        # @param plan [Bench::Plan]
        # @param findings [Findings]
        def initialize(plan, findings)
          @suite = plan.suite
          @findings = findings
        end

        # Ends of a sentence about the number of findings, by their outcome here.
        OUTCOMES = { "as published" => "hold here", "less so" => "hold to a lesser degree",
                     "more so" => "hold to a greater degree", "otherwise" => "do not hold",
                     "reversed" => "are the other way round", "not measured" => "were not measured",
                     Bench::Verdict::MARKS.fetch(:unknown) => "stay open, because this machine was too busy",
                     Bench::Verdict::MARKS.fetch(:few) => "stay open, because there were too few sessions" }.freeze
        private_constant :OUTCOMES

        # @return [String, nil] a sentence with how many findings hold; nil for a suite without any
        def summary
          return unless @suite.key == Published::SUITE

          counts = Published::FINDINGS.map { |finding| cells(finding).reject { |cell| cell == "" }.last }.tally
          found = OUTCOMES.filter_map { |outcome, words| "#{counts[outcome]} #{words}" if counts[outcome] }
          "The article has #{Published::FINDINGS.size} findings: #{found.join(", ")}."
        end

        # @return [Array<Document::Table>] none for a suite without published findings
        def tables
          @suite.key == Published::SUITE ? [comparison, totals] : []
        end

        private

        def comparison
          columns = [{ title: "a/b" }, { title: "published", align: "right" }, { title: "here", format: "ratio" },
                     { title: "" }]
          Document::Table.build(columns: columns, rows: Published::FINDINGS.map { |finding| cells(finding) },
                                notes: NOTES)
        end

        def cells(finding)
          estimate = nearest(finding)
          [name(finding), finding.words, *(estimate ? outcome(finding, estimate) : ["not measured", ""])]
        end

        # The pair that differs least, where a finding has several: if it shows a difference, all do.
        def nearest(finding)
          finding.pairs.filter_map do |faster, slower|
            @findings.ratio(slower, @suite.fetch(finding.slower_block || finding.block), faster,
                            @suite.fetch(finding.block))
          end.min_by(&:value)
        end

        def name(finding)
          return finding.label if finding.label

          "#{short(finding.faster)}/#{short(finding.slower)}: #{@suite.fetch(finding.block).short}"
        end

        def short(rows)
          rows.is_a?(Array) ? "next" : SHORT.fetch(rows, rows)
        end

        def outcome(finding, estimate)
          verdict = Bench::Verdict.of(estimate)
          return [Bench::Verdict.words(estimate, Bench::Verdict::MARKS), ""] if verdict == :unknown

          [{ "value" => estimate.value, "low" => estimate.low, "high" => estimate.high, "same" => verdict == :alike,
            "verdict" => verdict.to_s },
           agreement(finding, verdict, estimate)]
        end

        # A difference in the published direction is "less so" or "more so" if the interval does not hold the factor.
        def agreement(finding, verdict, estimate)
          return "" if finding.factor == Published::NOT_GIVEN
          return verdict == :alike ? "as published" : "otherwise" unless finding.factor
          return verdict == :faster ? "reversed" : "otherwise" unless verdict == :slower
          return "as published" unless finding.factor.is_a?(Numeric)
          return "less so" if estimate.high < finding.factor

          estimate.low > finding.factor ? "more so" : "as published"
        end

        # As the article gave them: seconds of all calls, means of runs.
        def totals
          blocks = %w[miss hit miss_published hit_published].map { |key| @suite.fetch(key) }
          columns = blocks.map do |block|
            operation, threads = block.short.split(", ")
            { title: operation, format: "seconds", group: threads }
          end
          rows = @findings.rows.map do |row|
            [row, *blocks.map { |block| @findings.total(row, block, calls: Published::CALLS, runs: Published::RUNS) }]
          end
          Document::Table.build(
            caption: "Seconds of #{Findings::Figures.thousands(Published::CALLS)} calls, mean of the first " \
                     "#{Published::RUNS} sessions", columns: [{ title: "" }, *columns], rows: rows
          )
        end
      end
    end
  end
end
