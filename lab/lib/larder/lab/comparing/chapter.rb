# frozen_string_literal: true

# Owns what is told of two runs: which measures changed, which did not, and what makes them hard to compare.

require_relative "../document"
require_relative "../reports/figures"
require_relative "change"

module Larder
  module Lab
    module Comparing
      # Makes the chapter of two documents.
      class Chapter
        Figures = Reports::Figures
        # Changes that are drawn, at most.
        DRAWN = 30
        # What ought to be alike.
        ALIKE = { "ruby" => "Ruby", "cpu" => "processor", "cores" => "number of cores", "kernel" => "kernel",
                  "file_system" => "file system", "governor" => "frequency governor" }.freeze
        FORMATS = { "seconds" => :duration, "bytes" => :bytes, "share" => :percent }.freeze
        WORDS = { worse: "worse", better: "better", none: "no difference is shown" }.freeze

        # @param before [Document]
        # @param after [Document]
        # @param fail_on [Float, nil] share by which a measure may be worse
        # @param absolute [Boolean] not in relation to the bases
        # @param everything [Boolean] also list what did not change
        def initialize(before, after, fail_on: nil, absolute: false, everything: false)
          @before = before
          @after = after
          @fail_on = fail_on
          @absolute = absolute
          @everything = everything
        end

        # @return [Document::Chapter]
        def to_chapter
          Document::Chapter.new(
            key: "compare", title: "Two runs beside each other",
            lead: "The second in relation to the first; above 1 it took longer, or more.",
            facts: [@before, @after].map { |run| "#{run.environment["time"]}: larder-lab #{run.command}" },
            conclusions: conclusions, warnings: warnings, sections: sections, failed: changes.empty? || failing.any?,
            details: { environment: @after.environment }
          )
        end

        # @return [Array<Change>] of measures that both runs have
        def changes
          @changes ||= common.map do |key|
            pair = [firsts[key], seconds[key]]
            bases = [firsts[pair[0].base], seconds[pair[1].base]] if pair[0].base && !@absolute
            Change.new(*pair, bases: bases)
          end
        end

        private

        def firsts
          @firsts ||= @before.measures.to_h { |measure| [measure.key, measure] }
        end

        def seconds
          @seconds ||= @after.measures.to_h { |measure| [measure.key, measure] }
        end

        def common
          firsts.keys & seconds.keys
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
          [counts, chance, limit].compact
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
            pair = [@before, @after].map { |run| run.environment[key] }
            "The #{name} differs: #{pair.map { |value| value || "unknown" }.join(" and ")}." if pair.uniq.size > 1
          end
          [*differing, *missing, *single]
        end

        def missing
          [[firsts.keys - seconds.keys, "first"], [seconds.keys - firsts.keys, "second"]].filter_map do |keys, which|
            next if keys.empty?

            more = keys.size > 3 ? " and #{keys.size - 3} more" : ""
            "Only the #{which} run has #{keys.first(3).join(", ")}#{more}."
          end
        end

        def single
          count = changes.count(&:single?)
          ["#{count} measures were taken once and have no interval: of them no difference is shown."] if count.positive?
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
            [label(change), figure(change, change.before), figure(change, change.after), interval(change),
             WORDS.fetch(change.verdict)]
          end)
        end

        def notes(listed)
          listed.any?(&:relative?) ? ["× is in relation to the measure's base, from the same rounds."] : []
        end

        def label(change)
          change.measure.label
        end

        def interval(change)
          change.ratio&.to_h&.transform_keys(&:to_s)
        end

        def figure(change, value)
          return "#{Figures.significant(value)}×" if change.relative?

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
