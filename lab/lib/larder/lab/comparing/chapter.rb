# frozen_string_literal: true

# Builds the report chapter of `larder-lab compare`: which measures changed, which did not, and what makes the runs
# hard to compare.

require_relative "../document"
require_relative "../reports/figures"
require_relative "change"
require_relative "runs"

module Larder
  module Lab
    module Comparing
      # Makes the chapter.
      class Chapter
        Figures = Reports::Figures
        # Changes that are drawn, at most.
        DRAWN = 30
        # What ought to be alike.
        ALIKE = { "ruby" => "Ruby", "cpu" => "processor", "cores" => "number of cores", "kernel" => "kernel",
                  "yjit" => "use of YJIT",
                  "file_system" => "file system", "governor" => "frequency governor" }.freeze
        FORMATS = { "seconds" => :duration, "bytes" => :bytes, "share" => :percent }.freeze
        WORDS = { worse: "worse", better: "better", none: "no difference is shown" }.freeze

        # @param before [Runs]
        # @param after [Runs] as many
        # @param fail_on [Float, nil] share by which a measure may be worse
        # @param absolute [Boolean] not in relation to the reference loop
        # @param everything [Boolean] also list what did not change
        def initialize(before, after, fail_on: nil, absolute: false, everything: false)
          @sides = [before, after]
          @fail_on = fail_on
          @absolute = absolute
          @everything = everything
        end

        # @return [Document::Chapter]
        def to_chapter
          Document::Chapter.new(
            key: "compare", title: "Two sets of runs beside each other",
            lead: "The second in relation to the first; above 1 it took longer, or more.",
            facts: facts, conclusions: conclusions, warnings: warnings, sections: sections,
            failed: changes.empty? || failing.any?, details: { environment: runs.last.environment }
          )
        end

        # @return [Array<Change>] of measures that all runs have
        def changes
          kind = @absolute ? :values : :related
          @changes ||= common.map do |key|
            Change.new(@sides.first.measures[key], *@sides.map { |side| side.public_send(kind, key) })
          end
        end

        private

        def runs
          @sides.flat_map(&:documents)
        end

        def facts
          firsts = @sides.map { |side| side.documents.first }
          ["#{@sides.first.count} pairs of runs",
           *firsts.map { |run| "from #{run.environment["time"]}: larder-lab #{run.command}" }]
        end

        def common
          @sides.map { |side| side.measures.keys }.inject(:&)
        end

        def shown
          @shown ||= changes.reject { |change| change.verdict == :none }
                            .sort_by { |change| -Math.log(change.ratio.value).abs }
        end

        def failing
          @fail_on ? changes.select { |change| change.worse_than?(@fail_on) } : []
        end

        def conclusions
          return ["The two runs have no measure in common."] if changes.empty?

          worse, better = %i[worse better].map { |verdict| changes.count { |change| change.verdict == verdict } }
          counts = "Of #{changes.size} measures #{worse} are worse, #{better} better; of the other " \
                   "#{changes.size - worse - better} no difference is shown."
          [counts, machine, chance, limit].compact
        end

        # What the machine did, which is no change of what was measured.
        def machine
          first, second = @sides.map(&:reference)
          return if first.empty? || first.size != second.size

          ratio = Statistics.estimate(Statistics.paired_ratios(second, first))
          seen = @absolute ? "and nothing here is seen in relation to it" : "and times are seen in relation to it"
          "The reference loop took #{Figures.ratio(ratio)} times as long in the second runs, #{seen}."
        end

        # What is shown where there is nothing.
        def chance
          errors = changes.sum(&:error)
          return if errors.zero? || shown.empty?

          "Intervals err: of #{changes.size} some #{errors.ceil} would differ by chance alone."
        end

        def limit
          return unless @fail_on

          percent = Figures.percent(@fail_on)
          return "None is worse by more than #{percent}." if failing.empty?

          "Worse by more than #{percent}: #{failing.map { |change| change.measure.label }.join("; ")}."
        end

        def warnings
          differing = ALIKE.filter_map do |key, name|
            found = runs.map { |run| run.environment[key] }.uniq.map { |value| value.nil? ? "unknown" : value }
            "The #{name} differs: #{found.join(" and ")}." if found.size > 1
          end
          [*differing, missing].compact
        end

        def missing
          keys = runs.flat_map { |run| run.measures.map(&:key) }.uniq - common - [Reference::KEY]
          return if keys.empty?

          more = keys.size > 3 ? " and #{keys.size - 3} more" : ""
          "Only some runs have #{keys.first(3).join(", ")}#{more}."
        end

        def sections
          listed = @everything ? changes : shown
          return [] if listed.empty?

          title = @everything ? "All measures" : "What differs"
          [Document::Section.new(title: title, blocks: [table(listed), chart(listed)])]
        end

        def table(listed)
          columns = [{ title: "" }, { title: "first", align: "right" }, { title: "second", align: "right" },
                     { title: "second to first", format: "ratio" }, { title: "" }]
          Document::Table.build(columns: columns, notes: notes(listed), rows: listed.map do |change|
            [label(change), *@sides.map { |side| figure(side, change) }, interval(change), WORDS.fetch(change.verdict)]
          end)
        end

        def notes(listed)
          related = !@absolute && listed.any? { |change| change.measure.base }
          related ? ["second to first: of times and rates in relation to the reference loop of each run."] : []
        end

        def label(change)
          change.measure.label
        end

        def interval(change)
          change.ratio&.to_h&.transform_keys(&:to_s)
        end

        def figure(side, change)
          value = Statistics.median(side.values(change.measure.key))
          Figures.public_send(FORMATS.fetch(change.measure.unit, :significant), value)
        end

        def chart(listed)
          rows = listed.select(&:ratio).first(DRAWN).map { |change| { label: label(change), **change.ratio.to_h } }
          Document::Intervals.build(title: "Second run to first", reference: 1.0, rows: rows,
                                    sentence: "#{shown.size} of #{changes.size} measures differ; " \
                                              "the largest #{rows.size} are drawn.",
                                    x: { title: "second to first", scale: "log", format: "ratio" })
        end
      end
    end
  end
end
