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

        # @param plan [Bench::Plan]
        # @param findings [Findings]
        def initialize(plan, findings)
          @findings = findings
          @absent = plan.rows.select { |row| findings.reason(row) }
          @request, @read = [REQUEST, READ].map { |key| plan.blocks.find { |block| block.key == key } }
        end

        # @return [String, nil] "9.4 %", or nil if it was not measured or this machine was too busy
        def words(row)
          estimate = of(row)
          Figures.percent(share(estimate.value)) if Bench::Verdict.known?(estimate)
        end

        # @return [Document::Table, nil] nil unless a share is known
        def chart
          rows = @request ? @findings.ranking(@request).select { |row| keeps?(row) && of(row) } : []
          return if rows.none? { |row| words(row) }

          Document::Table.new(
            caption: "A page of #{READS} cached fragments: the cache's share of a request", notes: [sentence(rows)],
            columns: ["", { title: "share of the request", format: "percent", plot: "linear" }, ["request", "seconds"]],
            rows: rows.map { |row| cells(row) }
          )
        end

        private

        # @return [Bench::Stats::Estimate, nil] of one read; nil where a part of it was not measured
        def of(row)
          return unless @request && @read && @findings.seconds(row, @request) && @findings.seconds(row, @read)

          @findings.ratio(row, @read, row, @request)
        end

        def share(part) = [part * READS, 1.0].min

        # Named for its extremes, where these are known.
        def sentence(rows)
          known = rows.select { |row| words(row) }.minmax_by { |row| of(row).value }.compact.uniq
          found = known.map { |row| "#{words(row)} with #{@findings.name(row)}" }
          missing = "Not measured: #{@absent.map { |row| @findings.name(row) }.join(", ")}." if @absent.any?
          ["#{READS} reads of 2 KB take #{found.join(", ")}.", without, *missing].compact.join(" ")
        end

        # The same page without a cache.
        def without
          row = @findings.ranking(@request).find { |each| !keeps?(each) } or return
          "Without a cache the page takes #{@findings.time(row, @request)}."
        end

        def keeps?(row) = Contenders.fetch(row).keeps_values?

        def cells(row)
          estimate, label = of(row), @findings.name(row)
          return [label, Bench::Verdict::MARKS.fetch(:unknown)] unless Bench::Verdict.known?(estimate)

          shares = %i[value low high].to_h { |name| [name.to_s, share(estimate.public_send(name))] }
          [label, shares, @findings.seconds(row, @request)]
        end
      end
    end
  end
end
