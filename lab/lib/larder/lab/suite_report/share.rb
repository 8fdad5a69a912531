# frozen_string_literal: true

# Computes which share of a request each store takes, and draws it.

require_relative "../bench/verdict"
require_relative "../document"
require_relative "findings"

module Larder
  module Lab
    module SuiteReport
      # The time of a page's reads, measured by themselves, as a part of the time of that page.
      class Share
        Figures = Reports::Figures
        # The block of a whole request, the block of one read in it, and how many such reads it makes.
        REQUEST = "page"
        READ = "fragment"
        READS = 10
        # Parts of a bar.
        PARTS = ["cache", "the rest of the request"].freeze

        # @param plan [Bench::Plan]
        # @param findings [Findings]
        # @param absent [Array<String>] rows that were not measured
        def initialize(plan, findings, absent = [])
          @absent = absent
          @findings = findings
          @request, @read = [REQUEST, READ].map { |key| plan.blocks.find { |block| block.key == key } }
        end

        # @param row [String]
        # @return [Bench::Stats::Estimate, nil] nil where a part of it was not measured
        def of(row)
          return unless @request && @read && @findings.seconds(row, @request) && @findings.seconds(row, @read)

          @findings.ratio(row, @read, row, @request)
        end

        # @param row [String]
        # @return [String, nil] "9.4 %", or nil if it was not measured or this machine was too busy
        def words(row)
          estimate = of(row)
          Figures.percent([estimate.value * READS, 1.0].min) if Bench::Verdict.known?(estimate)
        end

        # @return [Document::Stacked, nil] nil unless a share is known
        def chart
          rows = @request ? @findings.ranking(@request).select { |row| of(row) } : []
          return if rows.none? { |row| words(row) }

          Document::Stacked.build(
            title: "A page of #{READS} cached fragments, by store", sentence: sentence(rows), parts: PARTS,
            remainder: true, x: { title: "time of a request", format: "seconds" }, rows: rows.map { |row| bar(row) }
          )
        end

        private

        # Named for its extremes, where these are known.
        def sentence(rows)
          known = rows.select { |row| keeps?(row) && words(row) }.minmax_by { |row| of(row).value }.compact.uniq
          found = known.map { |row| "#{words(row)} with #{@findings.name(row)}" }
          missing = "Not measured: #{@absent.map { |row| @findings.name(row) }.join(", ")}." if @absent.any?
          reads = ["#{READS} reads of 2 KB", *found].join(", ")
          ["The filled part is the cache: #{reads}.", *missing].join(" ")
        end

        def keeps?(row)
          Contenders.fetch(row).keeps_values?
        end

        def bar(row)
          label = keeps?(row) ? @findings.name(row) : "no cache"
          estimate = of(row)
          unless Bench::Verdict.known?(estimate)
            return { label: label, values: [], note: Bench::Verdict::MARKS.fetch(:unknown) }
          end

          whole = @findings.seconds(row, @request)
          value, low, high = [estimate.value, estimate.low, estimate.high].map { |each| each * READS * whole }
          part = [value, whole].min
          { label: label, values: [part, whole - part], low: low, high: high, highlight: row == @findings.base,
            figure: "#{Figures.duration(value)}, #{words(row)}" }
        end
      end
    end
  end
end
