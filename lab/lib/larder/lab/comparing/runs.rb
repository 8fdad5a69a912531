# frozen_string_literal: true

# Reads the runs of one side of a comparison: a directory of reports, and what each of its runs measured.

require_relative "../document"
require_relative "../reference"
require_relative "../statistics"

module Larder
  module Lab
    # What `larder-lab compare` finds out about two sets of runs.
    module Comparing
      # Several runs of the same command.
      class Runs
        # Pairs of runs. Where there is nothing, all of five show a difference by chance in 6 of 100 comparisons, all of
        # four in 12.
        LEAST = 5

        # Two sides, whose runs are pairs: the first of one and the first of the other, and so on.
        # @param paths [Array<String>] two directories
        # @return [Array(Runs, Runs)]
        # @raise [UsageError] if there are fewer than {LEAST} pairs, or a file is no report of the lab
        def self.pairs(paths)
          sides = paths.map { |path| new(path) }
          counts = sides.map(&:count)
          return sides if counts.uniq.one? && counts.first >= LEAST

          raise UsageError, "#{paths[0]} has #{counts[0]} runs and #{paths[1]} #{counts[1]}: compare takes pairs of " \
                            "runs, #{LEAST} or more, so as many JSON files in either directory"
        end

        # @return [Array<Document>] in the order in which they were made
        attr_reader :documents

        # @param path [String] a directory of files that --json wrote
        # @raise [UsageError]
        def initialize(path)
          raise UsageError, "#{path}: no directory; name two, each with the JSON files of its runs" unless
            File.directory?(path)

          @path = path
          @documents = Dir.glob(File.join(path, "*.json")).sort.map { |file| Document.load(file) }
                          .sort_by.with_index { |run, at| [run.environment["time"].to_s, at] }
        end

        # @return [Integer]
        def count
          documents.size
        end

        # @return [Hash{String=>Document::Measure}] of the first run, by key, that all runs have
        def measures
          @measures ||= by_run.map { |run| run.transform_values(&:first) }
                              .then { |first, *rest| rest.inject(first) { |all, run| all.slice(*run.keys) } }
                              .except(Reference::KEY)
        end

        # @param key [String] of a measure
        # @return [Array<Float>] for each run the median of its rounds
        def values(key)
          by_run.map { |run| Statistics.median(run.fetch(key).first.samples) }
        end

        # @param key [String] of a measure
        # @return [Array<Float>] for each run the same in relation to the reference loop of its chapter, where that is
        #   the measure's base
        # @raise [UsageError] if a run did not measure it
        def related(key)
          by_run.map { |run| in_relation(*run.fetch(key)) }
        end

        # @return [Array<Float>] for each run the median of the reference loop in all its chapters
        def reference
          documents.map { |run| run.measures.select { |measure| measure.key == Reference::KEY }.flat_map(&:samples) }
                   .reject(&:empty?).map { |seconds| Statistics.median(seconds) }
        end

        private

        # For each run, by key: the measure and the reference loop of its chapter.
        def by_run
          @by_run ||= documents.map do |run|
            run.chapters.flat_map do |chapter|
              loops = chapter.measures.find { |measure| measure.key == Reference::KEY }
              chapter.measures.map { |measure| [measure.key, [measure, loops]] }
            end.to_h
          end
        end

        def in_relation(measure, loops)
          value = Statistics.median(measure.samples)
          return value unless measure.base
          raise UsageError, "#{@path}: no run of the reference loop beside #{measure.key}; measure again" unless loops

          seconds = Statistics.median(loops.samples)
          measure.unit == "per second" ? value * seconds : value / seconds
        end
      end
    end
  end
end
