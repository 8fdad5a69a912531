# frozen_string_literal: true

require_relative "bench/changes"
require_relative "bench/reference_loop"
require_relative "bench/stats"
require_relative "document"
require_relative "reports/figures"

module Larder
  module Lab
    # Finds the differences between two sets of reports.
    # @api private
    module Comparing
      # Reads the reports of one side of a comparison, and takes the values from them that are compared.
      class Runs
        attr_reader :documents

        # @param path [String] a report that --json wrote, or a directory of them
        # @raise [UsageError] if it is none, or has none
        def initialize(path)
          files = File.directory?(path) ? Dir.glob(File.join(path, "*.json")).sort : [path]
          raise UsageError, "#{path}: no JSON file in this directory; --json FILE writes one" if files.empty?

          @documents = files.map { |file| Document.load(file) }
          @chapters = @documents.flat_map(&:chapters)
          @all = @chapters.flat_map(&:measures).group_by(&:key)
        end

        # @return [Hash{String=>Document::Measure}] by key, of all reports
        def measures = @all.transform_values(&:last)

        # @return [Hash{String=>Array<Float>}] key of a measure => logarithms of its values in all reports; none where
        #   one is 0, which has no ratio
        def values
          @all.transform_values do |measures|
            values = measures.flat_map { |measure| measure.by_session || Bench::Stats.median(measure.samples) }
            values.all?(&:positive?) ? values.map { |value| Math.log(value) } : []
          end
        end

        # @return [Float] the median of its samples in all reports
        def median(key) = Bench::Stats.median(@all.fetch(key).flat_map(&:samples))

        # @return [Array<Float>] seconds of the laps of the reference loop
        def laps
          turns = @chapters.flat_map { |chapter| chapter.details["samples"].to_a }
          turns.select { |turn| turn["row"] == Bench::ReferenceLoop::KEY }.map { |turn| turn["seconds"] }
        end
      end

      # Builds the report chapter of `larder-lab compare`: which measures changed, which did not, and what makes the
      # reports hard to compare.
      class Chapter
        Figures = Reports::Figures
        # Keys that a warning names.
        NAMED = 3
        # Facts of the environment that ought to be the same.
        ALIKE = { "ruby" => "Ruby", "cpu" => "processor", "cores" => "number of cores", "kernel" => "kernel",
                  "yjit" => "use of YJIT", "file_system" => "file system", "governor" => "frequency governor" }.freeze
        # Formats of cells by units, see {Document::Measure}.
        FORMATS = { "seconds" => "seconds", "bytes" => "bytes", "share" => "percent" }.freeze
        WORDS = { worse: "worse", better: "better", alike: "no difference is shown",
                  unknown: "too busy to tell" }.freeze
        COLUMNS = ["", "", %w[first number], %w[second number], ["second to first", "ratio"],
                   ["found from", "percent"]].freeze
        BLIND = "--fail-on decides nothing, because the machine was too busy to tell in every measure: measure both " \
                "sides again when nothing else runs."

        # @param fail_on [Float, nil] share by which a measure may be worse
        def initialize(before, after, fail_on: nil)
          @sides = [before, after]
          @fail_on = fail_on
        end

        def to_chapter
          Document::Chapter.new(
            key: "compare", title: "Two sets of reports",
            lead: "The second in relation to the first; above 1 it took longer, or more.",
            facts: facts, conclusions: conclusions, warnings: [*differing, missing, few].compact,
            sections: changes.any? ? [Document::Section.new(title: "All measures", blocks: [table])] : [],
            failed: changes.empty? || (@fail_on && (worse.any? || blind?)) || false,
            details: { environment: documents.last.environment }
          )
        end

        # @return [Array<Bench::Changes::Change>] of measures that both sides have, those that differ most first
        def changes
          @changes ||= Bench::Changes.between(*@sides.map(&:values), allowed: 1.0 + @fail_on.to_f)
                                     .sort_by.with_index do |change, at|
            [WORDS.key?(change.verdict) ? 0 : -Math.log(change.ratio).abs, at]
          end
        end

        # @return [Symbol] :worse, :better, :alike or :unknown
        def verdict(change)
          return change.verdict if WORDS.key?(change.verdict)

          (change.verdict == :slower) == (measure(change).better == "lower") ? :worse : :better
        end

        private

        def measure(change) = @sides.first.measures.fetch(change.key)

        def worse = changes.select { |change| verdict(change) == :worse }

        # Whether no measure could be told from its counterpart: a gate that sees nothing does not open.
        def blind? = changes.all? { |change| verdict(change) == :unknown }

        def documents = @sides.flat_map(&:documents)

        def percent(share) = Figures.percent(share)

        def facts
          runs = @sides.map { |side| side.documents.first }
          ["reports: #{@sides.map { |side| side.documents.size }.join(" and ")}",
           *runs.map { |run| ["larder-lab #{run.command}", *run.environment["time"]].join(" at ") }]
        end

        def conclusions
          return ["No measure could be compared."] if changes.empty?

          counts = Hash.new(0).merge(changes.map { |change| verdict(change) }.tally)
          ["#{counts[:worse]} of #{changes.size} measures are worse, #{counts[:better]} better" \
           "#{" by more than #{percent(@fail_on)}" if @fail_on}; no difference is shown in " \
           "#{counts[:alike]}, and the machine was too busy to tell in #{counts[:unknown]}.",
           smallest, machine, *(limit if @fail_on)].compact
        end

        # The smallest regression that would have been found.
        def smallest
          sizes = changes.map { |change| change.detectable - 1.0 }.sort
          quarter, half, most = [1, 2, 3].map { |part| percent(sizes[(sizes.size - 1) * part / 4]) }
          "A change of #{half} would have been found in 8 of 10 comparisons (median of the measures; of #{quarter} " \
            "in a quarter of them, of #{most} in three quarters)."
        end

        # How fast the machine was: not a change of the measures.
        def machine
          laps = @sides.map(&:laps)
          return if laps.any?(&:empty?)

          ratio = laps.map { |seconds| Bench::Stats.median(seconds) }.reverse.inject(:/)
          "The reference loop took #{Figures.significant(ratio)} times as long in the second reports; times of rows " \
            "that took turns with it are compared relative to it."
        end

        def limit
          return BLIND if blind?
          return "None is shown to be worse by more than #{percent(@fail_on)}." if worse.empty?

          "Worse by more than #{percent(@fail_on)}: #{worse.map { |change| measure(change).label }.join("; ")}."
        end

        def differing
          ALIKE.filter_map do |key, name|
            found = documents.map { |run| run.environment[key] }.uniq.map { |value| value.nil? ? "unknown" : value }
            "The #{name} differs: #{found.join(" and ")}." if found.size > 1
          end
        end

        def missing
          first, second = @sides.map { |side| side.measures.keys }
          keys = (first | second) - (first & second)
          "Only one side has #{names(keys)}." if keys.any?
        end

        def few
          keys = @sides.map { |side| side.measures.keys }.inject(:&) - changes.map(&:key)
          return if keys.empty?

          "Not compared: #{names(keys)}. Each side needs #{Bench::Stats::LEAST_SESSIONS} values above 0: each " \
            "session of a suite is a value, and each report of another command."
        end

        def names(keys)
          more = " and #{keys.size - NAMED} more" if keys.size > NAMED
          "#{keys.first(NAMED).join(", ")}#{more}"
        end

        def table
          rows = changes.map do |change|
            figures = @sides.map { |side| Figures.text(side.median(change.key), FORMATS[measure(change).unit]) }
            interval = { "value" => change.ratio, "low" => change.low, "high" => change.high }
            [measure(change).label, WORDS.fetch(verdict(change)), *figures, interval, change.detectable - 1.0]
          end
          sure, found = [1.0 - Bench::Changes::ALARM, Bench::Stats::POWER].map { |share| percent(share) }
          notes = ["second to first: all intervals hold at once in #{sure} of comparisons.",
                   "found from: a change of this size is found in #{found} of comparisons."]
          Document::Table.new(columns: COLUMNS, rows: rows, notes: notes)
        end
      end
    end
  end
end
