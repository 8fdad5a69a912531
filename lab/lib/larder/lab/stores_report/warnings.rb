# frozen_string_literal: true

require_relative "../warnings"

module Larder
  module Lab
    module StoresReport
      # The warnings of a run of `larder-lab stores`.
      class Warnings
        Figures = Reports::Figures

        # @param results [Results]
        def initialize(results)
          @results = results
        end

        # @return [Array<String>] sentences
        def lines
          [quick, Lab::Warnings.few(@results.rounds), Lab::Warnings.busy(@results.environment), *missed_hits,
           *found_misses, Lab::Warnings.far_apart(blocks)].compact
        end

        private

        def quick
          "Quick run: few calls, short blocks." if @results.settings.quick?
        end

        # Hits that ran the block: evicted, expired or lost.
        def missed_hits
          shares do |_type, pass|
            ->(sample) { sample.block_runs.fdiv(sample.calls) } if pass.reading
          end.map { |name, share| "#{name}: #{Figures.percent(share)} of the hits were misses." }
        end

        # Misses that were none, in workloads whose keys all differ.
        def found_misses
          shares do |type, pass|
            next unless pass.key == "miss" && %w[one-thread threads-disjoint].include?(type.key)

            ->(sample) { 1.0 - sample.block_runs.fdiv(sample.calls) }
          end.map { |name, share| "#{name}: #{Figures.percent(share)} of pass 1 were hits in an emptied store." }
        end

        # The greatest share of each row and workload, where it is not zero.
        def shares
          each_step.filter_map do |row, type, pass|
            next unless Contenders.fetch(row.contender).keeps_values?

            measure = yield type, pass
            share = measure && @results.block(row.name, type.key, pass.key).map(&measure).max
            ["#{row.name}, #{type.title.downcase}", share] if share&.positive?
          end
        end

        def blocks
          each_step.map do |row, type, pass|
            [[row.name, type.key, pass.key], @results.per_call(row.name, type.key, pass.key)]
          end.reject { |_, seconds| seconds.empty? }
        end

        def each_step
          @results.measured.flat_map do |row|
            @results.settings.workload_types.flat_map { |type| type.passes.map { |pass| [row, type, pass] } }
          end
        end
      end
    end
  end
end
