# frozen_string_literal: true

require_relative "../document"

module Larder
  module Lab
    module StoresReport
      # Every row and every step in one table: the medians of the ratios, without intervals.
      class Summary
        HEADINGS = {
          "one-thread" => "1 thread", "threads-as-published" => "published", "threads-disjoint" => "own keys",
          "threads-shared" => "shared", "write" => "write"
        }.freeze
        # On a narrow terminal those that mislead are left out first.
        OPTIONAL = ["write", "threads-shared", "threads-as-published"].freeze
        PASSES = { "miss" => "miss", "hit" => "hit", "write" => "new", "overwrite" => "old" }.freeze

        # @param results [Results]
        # @param comparison [Comparison]
        def initialize(results, comparison)
          @results = results
          @comparison = comparison
        end

        # @return [Document::Table]
        def table
          columns = steps.map { |type, pass| column(type, pass) }
          rows = ranked.map { |row| [row.name, *steps.map { |type, pass| cell(row, type, pass) }] }
          Document::Table.build(columns: [{ title: "" }, *columns], rows: rows)
        end

        private

        def column(type, pass)
          { title: PASSES.fetch(pass.key, pass.key), format: "ratio", align: "right",
            group: HEADINGS.fetch(type.key, type.key), optional: OPTIONAL.index(type.key)&.succ }
        end

        def cell(row, type, pass)
          return "1" if row.name == @comparison.base
          return "-" if pass.reading && !Contenders.fetch(row.contender).keeps_values?

          estimate = @comparison.ratio(row.name, @comparison.base, type.key, pass.key) or return "-"
          same = @comparison.verdict(estimate, type.key, pass.key) == :none
          { "value" => estimate.value, "same" => same }
        end

        def steps
          @steps ||= @results.settings.workload_types.flat_map { |type| type.passes.map { |pass| [type, pass] } }
        end

        def ranked
          type, pass = steps.find { |_, step| step.reading } || steps.last
          ranking = @comparison.ranking(type.key, pass.key)
          ranking + (@results.measured - ranking)
        end
      end
    end
  end
end
