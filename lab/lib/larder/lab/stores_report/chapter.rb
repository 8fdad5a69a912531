# frozen_string_literal: true

# Builds the report chapter of `larder-lab stores`: the tables in published and in corrected form, conclusions, and
# the raw samples.

require_relative "../comparison"
require_relative "../document"
require_relative "../published"
require_relative "../targets"
require_relative "warnings"
require_relative "judgements"
require_relative "measures"
require_relative "summary"
require_relative "timings"

module Larder
  module Lab
    # What `larder-lab stores` tells of its results.
    module StoresReport
      # Makes the chapter.
      class Chapter
        CALL = "Rails.cache.fetch([\"key\", i], expires_in: 5.minutes) { \"Hello World!\" }"
        Figures = Reports::Figures

        # @param results [Results]
        # @param comparison [Comparison]
        def initialize(results, comparison)
          @results = results
          @comparison = comparison
          @judgements = Judgements.new(results, comparison)
        end

        # @return [Document::Chapter]
        def to_chapter
          Document::Chapter.new(
            key: "stores", title: "Stores through the cache API of Rails", lead: CALL, facts: facts,
            conclusions: @comparison.base ? @judgements.words : [], warnings: Warnings.new(@results).lines,
            sections: sections, measures: Measures.new(@results).to_a, failed: failed?, details: details
          )
        end

        private

        def failed?
          @results.stores.empty? || @results.rows.any? { |row| row.state == :invalid }
        end

        def facts
          settings = @results.settings
          [calls, "#{settings.threads} threads where several",
           "#{@results.rounds} #{@results.rounds == 1 ? "round" : "rounds"}", block_length, "seed #{settings.seed}"]
        end

        # Slow stores make fewer calls; the least and the most of theirs are said.
        def calls
          n = "n = #{Figures.thousands(@results.count)}"
          fewer = @results.measured.filter_map(&:count).select { |count| count < @results.count }
          return n if fewer.empty?

          range = fewer.minmax.uniq.map { |count| Figures.thousands(count) }.join(" to ")
          "#{n} (#{fewer.size} slow #{fewer.one? ? "row" : "rows"}: #{range})"
        end

        def block_length
          seconds = @results.settings.block_seconds
          seconds ? "blocks of #{format("%g", seconds)} s or more" : "one lap per block"
        end

        def sections
          [*(timings if @comparison.base), section("Not measured", not_measured), section("Software", software),
           *(judged if @comparison.base)].compact
        end

        def timings
          [*@results.settings.workload_types.map { |type| Timings.new(@results, @comparison, type).section },
           section("Memory, garbage and disk, with the keys of the last step stored", footprints),
           section("The lab's own share", own_share)]
        end

        def judged
          summary = Summary.new(@results, @comparison).table
          [section("Times as long as #{@comparison.base} (median)", summary, headline: true),
           section("Beside the published comparison", @judgements.published, headline: true),
           section("What Larder sets out to reach", @judgements.targets, headline: true)]
        end

        def section(title, *blocks, headline: false)
          blocks = blocks.compact
          Document::Section.new(title: title, blocks: blocks, headline: headline) if blocks.any?
        end

        def footprints
          columns = [{ title: "" }, { title: "n", format: "integer" }, { title: "process grew by", format: "bytes" },
                     { title: "server holds", format: "bytes" }, { title: "on disk", format: "bytes" },
                     { title: "objects/hit", format: "number", optional: 1 },
                     { title: "GC runs/1,000 hits", format: "number", optional: 2 }]
          rows = @results.stores.map { |row| [row.name, row.count, *holds(row), *garbage(row)] }
          Document::Table.build(columns: columns, rows: rows)
        end

        def holds(row)
          own = @results.footprints.select { |footprint| footprint.row == row.name }
          %i[memory_bytes server_bytes disk_bytes].map do |field|
            values = own.filter_map(&field)
            Statistics.median(values) unless values.empty?
          end
        end

        # Of the first step that reads.
        def garbage(row)
          step = @results.settings.workload_types.flat_map { |type| type.passes.map { |pass| [type.key, pass] } }
                         .find { |_, pass| pass.reading }
          samples = step ? @results.block(row.name, step.first, step.last.key).select(&:allocated) : []
          return [nil, nil] if samples.empty?

          [Statistics.median(samples.map { |sample| sample.allocated.fdiv(sample.calls) }),
           Statistics.median(samples.map { |sample| 1000.0 * sample.collections / sample.calls })]
        end

        # What the loop around a call takes, and how much that is beside the fastest call.
        def own_share
          overhead = @results.overhead
          keepers = @results.stores.select { |row| Contenders.fetch(row.contender).keeps_values? }.map(&:name)
          fastest = @results.samples.filter_map { |sample| sample.per_call if keepers.include?(sample.row) }.min
          return unless overhead && fastest

          Document::Prose.new(text: "Counting, looping and comparing the value take #{Figures.duration(overhead)} a " \
                                    "call, #{Figures.percent(overhead / fastest)} of the fastest call of this run. " \
                                    "They are subtracted from every figure above.")
        end

        def not_measured
          rows = @results.rows - @results.measured
          items = @results.skipped.map { |row, workload, reason| "#{row}: #{workload}: #{reason}" }
          return if rows.empty? && items.empty?

          items += rows.map { |row| "#{row.name}: #{"invalid, " if row.state == :invalid}#{row.reason}" }
          Document::List.new(items: items)
        end

        def software
          all = @results.measured.map { |row| row.versions.to_h }
          names = all.flat_map(&:keys).uniq
          gems = names.map { |name| "#{name} #{all.filter_map { |versions| versions[name] }.uniq.join(" and ")}" }
          items = [gems.join(", "), *@results.measured.filter_map { |row| row.server&.fetch(:version) }.uniq]
          Document::List.new(items: items.reject(&:empty?)) if items.any? { |item| !item.empty? }
        end

        # Circumstances and raw samples.
        def details
          given = @results.settings
          settings = given.to_h.except(:urls, :directory).merge(
            count: @results.count, asked_count: given.count, rounds: @results.rounds, asked_rounds: given.rounds,
            given_urls: given.urls.keys
          )
          { environment: @results.environment, settings: settings, base: @comparison.base, twins: @results.twins,
            rows: @results.rows.map { |row| row.to_h.merge(shared: Contenders.fetch(row.contender).shared?) },
            footprints: @results.footprints.map(&:to_h), samples: @results.samples.map(&:to_h) }
        end
      end
    end
  end
end
