# frozen_string_literal: true

# Reads the reports of one side of a comparison, and takes the values from them that are compared.

require_relative "../bench/samples"
require_relative "../bench/stats"
require_relative "../document"
require_relative "../reference"
require_relative "../suites"

module Larder
  module Lab
    # Finds the differences between two sets of reports.
    module Comparing
      # The reports of one side.
      class Runs
        # @return [Array<Document>]
        attr_reader :documents

        # @param path [String] a report that --json wrote, or a directory of them
        # @raise [UsageError] if it is none, or has none
        def initialize(path)
          files = File.directory?(path) ? Dir.glob(File.join(path, "*.json")).sort : [path]
          raise UsageError, "#{path}: no JSON file in this directory; --json FILE writes one" if files.empty?

          @documents = files.map { |file| Document.load(file) }
          @turns = {}.compare_by_identity
          chapters.each { |chapter| @turns[chapter] = turns_of(chapter, path) if Suites.names.include?(chapter.key) }
        end

        # @return [Hash{String=>Document::Measure}] by key, of all reports
        def measures
          @measures ||= documents.flat_map(&:measures).to_h { |measure| [measure.key, measure] }.except(Reference::KEY)
        end

        # @return [Hash{String=>Array<Float>}] key of a measure => logarithms: of a suite, one for each session; of
        #   other commands, one for each report
        def values
          @values ||= chapters.each_with_object(Hash.new { |all, key| all[key] = [] }) do |chapter, values|
            (chapter.measures - loops(chapter)).each { |measure| values[measure.key].concat(of(measure, chapter)) }
          end
        end

        # @param key [String] of a measure
        # @return [Float] the median of its samples in all reports
        def median(key)
          measures = documents.flat_map(&:measures).select { |measure| measure.key == key }
          Bench::Stats.median(measures.flat_map(&:samples))
        end

        # @return [Array<Float>] seconds of the laps of the reference loop
        def laps
          chapters.flat_map { |chapter| loops(chapter).flat_map(&:samples) } +
            @turns.each_value.flat_map { |turns| turns.select { |turn| turn.row == Reference::KEY }.map(&:seconds) }
        end

        private

        def turns_of(chapter, path)
          Bench::Samples.from(chapter.details.fetch("samples"))
        rescue KeyError, ArgumentError, NoMethodError
          raise UsageError, "#{path}: the turns of #{chapter.key} are missing or damaged; measure again"
        end

        def chapters
          documents.flat_map(&:chapters)
        end

        def loops(chapter)
          chapter.measures.select { |measure| measure.key == Reference::KEY }
        end

        def of(measure, chapter)
          turns = @turns[chapter] or return report_value(measure, loops(chapter))

          _, block, row = measure.key.split("/")
          Bench::Stats.session_values(turns.of(row, block), turns.of(Reference::KEY, block))
        end

        # Nothing where a value is 0, which has no ratio, or where the reference loop is missing.
        def report_value(measure, loops)
          value = Bench::Stats.median(measure.samples)
          value *= lap(measure, loops) if measure.base
          value.positive? ? [Math.log(value)] : []
        end

        # The factor that makes a figure relative to the reference loop.
        def lap(measure, loops)
          return 0 if loops.empty?

          seconds = Bench::Stats.median(loops.flat_map(&:samples))
          measure.unit == "per second" ? seconds : 1 / seconds
        end
      end
    end
  end
end
