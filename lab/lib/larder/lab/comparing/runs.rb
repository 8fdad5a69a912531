# frozen_string_literal: true

require_relative "../bench/samples"
require_relative "../bench/stats"
require_relative "../document"
require_relative "../bench/reference_loop"
require_relative "../suites"

module Larder
  module Lab
    # Finds the differences between two sets of reports.
    # @api private
    module Comparing
      # Reads the reports of one side of a comparison, and takes the values from them that are compared.
      class Runs
        LOOP = Bench::ReferenceLoop::KEY
        private_constant :LOOP

        attr_reader :documents

        # @param path [String] a report that --json wrote, or a directory of them
        # @raise [UsageError] if it is none, or has none
        def initialize(path)
          files = File.directory?(path) ? Dir.glob(File.join(path, "*.json")).sort : [path]
          raise UsageError, "#{path}: no JSON file in this directory; --json FILE writes one" if files.empty?

          @documents = files.map { |file| Document.load(file) }
          suites = chapters.select { |chapter| Suites.names.include?(chapter.key) && chapter.measures.any? }
          @turns = suites.to_h { |chapter| [chapter, turns_of(chapter, path)] }.compare_by_identity
        end

        # @return [Hash{String=>Document::Measure}] by key, of all reports
        def measures = all.transform_values(&:last)

        # @return [Hash{String=>Array<Float>}] key of a measure => logarithms: of a suite, one for each session; of
        #   other commands, one for each report
        def values
          @values ||= chapters.each_with_object(Hash.new { |all, key| all[key] = [] }) do |chapter, values|
            chapter.measures.each { |measure| values[measure.key].concat(of(measure, chapter)) }
          end
        end

        # @param key [String] of a measure
        # @return [Float] the median of its samples in all reports
        def median(key) = Bench::Stats.median(all.fetch(key).flat_map(&:samples))

        # @return [Array<Float>] seconds of the laps of the reference loop
        def laps = @turns.each_value.flat_map { |turns| turns.select { |turn| turn.row == LOOP }.map(&:seconds) }

        private

        def turns_of(chapter, path)
          Bench::Samples.from(chapter.details.fetch("samples"))
        rescue KeyError, ArgumentError, NoMethodError
          raise UsageError, "#{path}: the turns of #{chapter.key} are missing or damaged; measure again"
        end

        def all = @all ||= chapters.flat_map(&:measures).group_by(&:key)

        def chapters = documents.flat_map(&:chapters)

        # Times relative to the reference loop, where it took turns with the row.
        def of(measure, chapter)
          turns = @turns[chapter] or return logarithms(measure, measure.samples.size)
          _, block, *figure, row = measure.key.split("/")
          return logarithms(measure, Bench::Suite::COPIES) if figure.any? # a sample for each process of a session

          relative = Bench::Stats.session_values(turns.of(row, block), turns.of(LOOP, block))
          relative.any? ? relative : logarithms(measure, 1)
        end

        # The logarithm of the median of each group of `samples` samples; none where a value is 0, which has no ratio.
        def logarithms(measure, samples)
          values = measure.samples.each_slice(samples).map { |some| Bench::Stats.median(some) }
          values.all?(&:positive?) ? values.map { |value| Math.log(value) } : []
        end
      end
    end
  end
end
