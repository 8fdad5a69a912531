# frozen_string_literal: true

require_relative "../bench/verdict"
require_relative "../document"
require_relative "../published"
require_relative "findings"

module Larder
  module Lab
    module SuiteReport
      # Sets the findings and tables of the {Published::Article} that a suite repeats against the same ratios and
      # figures on this machine. All of them are listed, measured here or not.
      class PublishedFindings
        # @param plan [Bench::Plan] of a suite that has an article
        def initialize(plan, findings)
          @suite = plan.suite
          @article = Published.of(@suite.key)
          @findings = findings
        end

        # Ends of a sentence about the number of findings, by their outcome here.
        OUTCOMES = { "as published" => "hold here", "less so" => "hold to a lesser degree",
                     "more so" => "hold to a greater degree", "otherwise" => "do not hold",
                     "reversed" => "are the other way round", "not measured" => "were not measured",
                     Bench::Verdict::MARKS.fetch(:unknown) => "stay open, because this machine was too busy",
                     Bench::Verdict::MARKS.fetch(:few) => "stay open, because there were too few sessions",
                     Published::NOT_GIVEN => "had no published factor" }.freeze
        # The decisive part of a reason: the name is that of the row, and all of it is in the list of rows that were not
        # measured.
        REASON = /(?:\A\w+ :\w+ )?(.+?)(?:[:;,] | \(|\z)/m
        FIRST = "first: the first call of a process; warm: later ones."
        private_constant :OUTCOMES, :REASON, :FIRST

        # @return [String] a sentence with how many findings hold
        def summary
          counts = @article.findings.map { |finding| outcome(*cells(finding).last(2)) }.tally
          found = OUTCOMES.filter_map { |outcome, words| "#{counts[outcome]} #{words}" if counts[outcome] }
          "The article has #{@article.findings.size} findings: #{found.join(", ")}."
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

        # As the article gave them: seconds of all calls, means of runs.
        # @return [Document::Table, nil] nil if the article gave none
        def totals
          calls, runs, blocks = @article.totals&.values_at("calls", "runs", "blocks")
          return unless calls

          blocks = blocks.map { |key| @suite.fetch(key) }
          columns = blocks.map do |block|
            operation, threads = block.short.split(", ")
            { title: operation, format: "seconds", group: threads }
          end
          rows = @findings.rows.map do |row|
            [row, *blocks.map { |block| @findings.total(row, block, calls: calls, runs: runs) }]
          end
          Document::Table.new(columns: ["", *columns], rows: rows,
                              caption: "Seconds of #{Findings::Figures.thousands(calls)} calls, mean of the first " \
                                       "#{runs} sessions")
        end

        private

        # A key of {OUTCOMES}, by the last cells of a finding.
        def outcome(here, agreement)
          return agreement unless agreement.empty?

          here.is_a?(Hash) ? Published::NOT_GIVEN : here
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
            [title, *table.columns.zip(there).flat_map { |column, figure| [printed(figure), *here(row, column)] }]
          end
          reasons = table.rows.keys.map { |row| @findings.reason(row)&.slice(REASON, 1) }
          rows = rows.zip(reasons).map { |cells, reason| [*cells, reason.to_s] } if reasons.any?
          columns = ["", *table.columns.flat_map { |column| headings(column) }]
          Document::Table.new(caption: table.caption, rows: rows,
                              notes: columns.any? { |title, _| title == "first" } ? [FIRST] : [],
                              columns: [*columns, *("not measured" if reasons.any?)])
        end

        # A line for each column of the article, with the figures of two rows and their ratio.
        def pairs(table)
          titles = [*table.ratio.map { |row| table.rows.fetch(row).first }, "a/b"]
          columns = titles.zip(["number", "number", "ratio"]).flat_map do |title, format|
            [{ title: "there", group: title, format: "number" }, { title: "here", group: title, format: format }]
          end
          rows = table.columns.each_with_index.map { |column, at| [column.title, *pair(table, column, at + 1)] }
          Document::Table.new(caption: table.caption, columns: ["", *columns], rows: rows,
                              notes: ["a/b: #{titles.first(2).join("/")}, as the published ratio is."])
        end

        def pair(table, column, at)
          there = table.ratio.map { |row| table.rows.fetch(row)[at] }
          block = @suite.fetch(column.of.first)
          estimate = @findings.ratio(table.ratio.first, block, table.ratio.last)
          [*table.ratio.zip(there).flat_map { |row, figure| [figure.to_s, here(row, column).first&.*(table.calls)] },
           format("%.2f", there.reduce(:/)), estimate ? @findings.shown(estimate) : "not measured"]
        end

        def headings(column)
          titles = column.of.map { |key| @suite.fetch(key).cold ? "first" : "warm" }
          titles = ["here"] if titles.one?
          [[column.title, "number"], *titles.product([column.format])]
        end

        # With the digits of the article.
        def printed(figure) = figure.is_a?(Integer) ? Findings::Figures.thousands(figure) : figure&.to_s

        def here(row, column)
          column.of.map { |key| @suite.fetch(key) }.map do |block|
            column.here ? @findings.figure(row, block, column.here) : @findings.seconds(row, block)
          end
        end
      end
    end
  end
end
