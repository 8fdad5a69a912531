# frozen_string_literal: true

require_relative "../document"
require_relative "../reports/figures"

module Larder
  module Lab
    module StoresReport
      # One workload: a table with a line for every row of the run, and a chart for every pass.
      class Timings
        Figures = Reports::Figures

        # @param results [Results]
        # @param comparison [Comparison]
        # @param workload [Class]
        def initialize(results, comparison, workload)
          @results = results
          @comparison = comparison
          @workload = workload
        end

        # @return [Document::Section]
        def section
          Document::Section.new(title: @workload.heading(@results.settings.threads),
                                blocks: [Document::Prose.new(text: @workload.about), table, *charts])
        end

        # @return [Document::Table]
        def table
          columns = [{ title: "" }, *passes.flat_map { |pass| columns_of(pass) }]
          rows = measured.map { |row| [row.name, *passes.flat_map { |pass| cells(row, pass) }] }
          rejected = others.map { |row| [row.name, turned_down(row)] }
          Document::Table.build(columns: columns, rows: rows + rejected)
        end

        # @return [Array<Document::Intervals>]
        def charts
          passes.map do |pass|
            Document::Intervals.build(title: "#{@workload.heading(@results.settings.threads)}: #{pass.title}",
                                      sentence: sentence(pass), rows: dots(pass),
                                      x: { title: "time per call", scale: "log", format: "seconds" })
          end
        end

        private

        def columns_of(pass)
          [{ title: "µs/call", format: "micros", group: pass.title },
           { title: "calls/s", format: "rate", group: pass.title, optional: 1 },
           { title: "times #{@comparison.base}", format: "ratio", group: pass.title },
           *(column_above_floor(pass) if floor?)]
        end

        def column_above_floor(pass)
          title, format = @workload.requests? ? ["share", "percent"] : ["above floor", "micros"]
          [{ title: title, format: format, group: pass.title }]
        end

        def cells(row, pass)
          seconds = median(row, pass)
          [seconds, seconds, relative(row, pass), *([above_floor(row, pass, seconds)] if floor?)]
        end

        # Of a whole request: which part of it the store has.
        def above_floor(row, pass, seconds)
          above = @comparison.above_floor(row.name, @workload.key, pass.key)
          above && (@workload.requests? ? above / seconds : above)
        end

        # Was the floor measured?
        def floor?
          measured.any? { |row| floor_itself?(row) }
        end

        def floor_itself?(row)
          Contenders.fetch(row.contender).floor?
        end

        def relative(row, pass)
          return "1" if row.name == @comparison.base
          return "never hits" if pass.reading && !keeps?(row)

          estimate = @comparison.ratio(row.name, @comparison.base, @workload.key, pass.key)
          same = @comparison.verdict(estimate, @workload.key, pass.key) == :none
          estimate.to_h.merge(same: same).transform_keys(&:to_s)
        end

        # Stores that have no time in this workload.
        def others
          (@results.rows - measured).reject { |row| floor_itself?(row) }
        end

        def turned_down(row)
          lacking = @results.skipped.find { |name, workload, _| [name, workload] == [row.name, @workload.key] }
          "#{row.state == :invalid ? "invalid" : "not measured"}: #{row.reason || lacking&.last}"
        end

        def dots(pass)
          drawn = measured.reject { |row| pass.reading && !keeps?(row) }
          drawn.map { |row| dot(row, pass) } +
            others.map { |row| { label: row.name, note: turned_down(row) } }
        end

        def dot(row, pass)
          seconds = @results.per_call(row.name, @workload.key, pass.key)
          estimate = Statistics.estimate(seconds)
          { label: row.name, **estimate.to_h, dots: seconds, highlight: row.contender == "larder" }
        end

        # The first two, and how far the last is.
        def sentence(pass)
          ranked = @comparison.ranking(@workload.key, pass.key)
                              .select { |row| keeps?(row) && !floor_itself?(row) && row.name == row.contender }
          return "Nothing to compare." if ranked.size < 2

          first, second = ranked
          estimate = @comparison.ratio(second.name, first.name, @workload.key, pass.key)
          last = ranked.last
          "#{pass.title.capitalize}: #{first.name} takes #{Figures.duration(median(first, pass))} a call, " \
            "#{second.name} #{Figures.ratio(estimate)} times as long, " \
            "#{last.name} #{Figures.duration(median(last, pass))}."
        end

        def median(row, pass)
          Statistics.median(@results.per_call(row.name, @workload.key, pass.key))
        end

        def keeps?(row)
          Contenders.fetch(row.contender).keeps_values?
        end

        def measured
          @measured ||= @comparison.ranking(@workload.key, passes.last.key)
        end

        def passes
          @workload.passes
        end
      end
    end
  end
end
