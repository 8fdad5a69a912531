# frozen_string_literal: true

require_relative "../reports/figures"

module Larder
  module Lab
    module StoresReport
      # Reasons for not believing a run: the tool doubts its own figures before its reader has to.
      class Doubts
        # A step whose rounds lie further apart than this, relative to their median, is mentioned.
        SPREAD = 0.3
        Figures = Reports::Figures
        # Names listed before "and n more".
        LISTED = 4

        # @param results [Results]
        def initialize(results)
          @results = results
        end

        # @return [Array<String>] sentences; empty if there is nothing to doubt
        def lines
          [quick, single, load, *missed_hits, *found_misses, spread].compact
        end

        private

        def quick
          "Quick run: few calls and #{@results.rounds} rounds. An impression, not evidence." if
            @results.settings.quick?
        end

        def single
          "A single round has no interval: no difference is shown." if @results.rounds == 1
        end

        def load
          average = @results.environment[:load_average]
          return unless average && average > 0.7 * @results.environment[:cores]

          "Other work was running when the run began: load #{average} on #{@results.environment[:cores]} cores."
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

        def spread
          wide = each_step.filter_map do |row, type, pass|
            spread = Statistics.spread(@results.per_call(row.name, type.key, pass.key))
            ["#{row.name} (#{type.key}, #{pass.key}: #{Figures.percent(spread)})", spread] if spread > SPREAD
          end
          return if wide.empty?

          names = wide.sort_by { |_, spread| -spread }.map(&:first)
          more = names.size > LISTED ? " and #{names.size - LISTED} more" : ""
          "Rounds lay far apart: #{names.first(LISTED).join(", ")}#{more}. The machine was not quiet."
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
