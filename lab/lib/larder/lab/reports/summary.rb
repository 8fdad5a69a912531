# frozen_string_literal: true

require_relative "figures"
require_relative "table"

module Larder
  module Lab
    module Reports
      # Every row and every step in one table: the medians of the ratios, without intervals.
      class Summary
        HEADINGS = {
          "one-thread" => "1 thread", "threads-as-published" => "published", "threads-disjoint" => "own keys",
          "threads-shared" => "shared", "write" => "write"
        }.freeze
        DISPENSABLE = ["threads-as-published", "threads-shared", "write"].freeze
        PASSES = { "miss" => "miss", "hit" => "hit", "write" => "new", "overwrite" => "old" }.freeze

        # @param results [Results]
        # @param comparison [Comparison]
        def initialize(results, comparison)
          @results = results
          @comparison = comparison
        end

        # Workloads that there is no room for are left out, those that mislead first.
        # @param width [Integer]
        # @return [Array<String>]
        def lines(width:)
          types = @results.settings.workload_types
          dispensable = types.sort_by { |type| DISPENSABLE.index(type.key) || DISPENSABLE.size }
          lines = table(types)
          while types.size > 1 && lines.any? { |line| line.size > width }
            types -= [dispensable.shift]
            lines = table(types)
          end
          lines
        end

        private

        def table(types)
          steps = types.flat_map { |type| type.passes.map { |pass| [type, pass] } }
          table = Table.new(:left, *([:right] * steps.size))
          table.groups(*types.map { |type| HEADINGS.fetch(type.key, type.key) })
          table.row("", *steps.map { |_, pass| PASSES.fetch(pass.key, pass.key) })
          ranked(steps).each { |row| table.row(row.name, *steps.map { |type, pass| cell(row, type, pass) }) }
          table.lines(width: nil)
        end

        def cell(row, type, pass)
          return "1" if row.name == @comparison.base
          return "-" if pass.reading && !Contenders.fetch(row.contender).keeps_values?

          estimate = @comparison.ratio(row.name, @comparison.base, type.key, pass.key)
          same = @comparison.verdict(estimate, type.key, pass.key) == :none
          "#{"≈" if same}#{Figures.significant(estimate.value)}"
        end

        def ranked(steps)
          type, pass = steps.find { |_, step| step.reading } || steps.last
          @comparison.ranking(type.key, pass.key)
        end
      end
    end
  end
end
