# frozen_string_literal: true

require_relative "figures"
require_relative "table"

module Larder
  module Lab
    module Reports
      # The table of one workload: a line for every row of the run, two or three columns for every pass.
      class Timings
        # Terminals from this width also get calls per second.
        WIDE = 98
        # Behind a ratio that does not differ from 1 by more than the noise.
        SAME = "≈"

        # @param results [Results]
        # @param comparison [Comparison]
        # @param workload [Class]
        # @param width [Integer] columns
        def initialize(results, comparison, workload, width:)
          @results = results
          @comparison = comparison
          @workload = workload
          @width = width
        end

        # @return [Array<String>]
        def lines
          table.lines(width: @width)
        end

        private

        def table
          per_pass = wide? ? %i[right right left] : %i[right left]
          table = Table.new(:left, *(per_pass * passes.size))
          heading(table)
          measured.each { |row| table.row(row.name, *passes.flat_map { |pass| cells(row, pass) }) }
          (@results.rows - measured).each { |row| table.row(row.name, turned_down(row)) }
          table
        end

        def heading(table)
          table.groups(*passes.map(&:title))
          table.row("", *passes.flat_map { ["µs/call", *("calls/s" if wide?), "times #{@comparison.base}"] })
        end

        def cells(row, pass)
          median = Statistics.median(@results.per_call(row.name, @workload.key, pass.key))
          [Figures.micros(median), *(Figures.rate(median) if wide?), relative(row, pass)]
        end

        def relative(row, pass)
          return "1" if row.name == @comparison.base
          return "never hits" if pass.reading && !Contenders.fetch(row.contender).keeps_values?

          estimate = @comparison.ratio(row.name, @comparison.base, @workload.key, pass.key)
          same = @comparison.verdict(estimate, @workload.key, pass.key) == :none
          "#{Figures.ratio(estimate)}#{" #{SAME}" if same}"
        end

        def turned_down(row)
          "#{row.state == :void ? "void" : "not measured"}: #{row.reason}"
        end

        def measured
          @measured ||= @comparison.ranking(@workload.key, passes.last.key)
        end

        def passes
          @workload.passes
        end

        def wide?
          @width >= WIDE
        end
      end
    end
  end
end
