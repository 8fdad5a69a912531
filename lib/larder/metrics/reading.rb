# frozen_string_literal: true

# One reading of all metrics.

require_relative "../version"
require_relative "catalogue"
require_relative "keyspace_counts"
require_relative "remote_figures"
require_relative "session_figures"

module Larder
  class Metrics
    # @api private
    module Reading
      module_function

      # @param source [Source]
      # @return [Array<Family>] in the order of the Catalogue; without those of the cache but `larder_up` if its
      #   file cannot be used
      # @raise [Source::NoStore] there is no store
      def families(source)
        source.path # raises here, not in the rescue below
        # Sessions have a file of their own.
        rows({ **of_cache(source), **SessionFigures.read })
      end

      # For a collection that has other metrics, too, which an error would stop. Development often has another store.
      #
      # @param source [Source]
      # @return [Array<Family>] as {.families}; where there is no store, `larder_up` says so, and is 0
      def collected(source)
        families(source)
      rescue Source::NoStore => e
        down(e.message)
      end

      # @param values [Hash{String=>Hash}] samples by id
      # @return [Array<Family>]
      def rows(values)
        Catalogue::ALL.filter_map { |row| row.family(values.fetch(row.id)) if values[row.id]&.any? }
      end

      # @param why [String] a sentence, which is the metric's description
      # @return [Array<Family>] `larder_up`, which is 0, and the sessions
      def down(why)
        rows({ **alone("up" => 0), **SessionFigures.read }).tap { |families| families.first.help = "0: #{why}" }
      end

      def of_cache(source)
        { **alone("up" => 1), "build_info" => { { "version" => VERSION } => 1 }, **of_file(source),
          **KeyspaceCounts.read(source.path), **alone(RemoteFigures.new(source).read) }
      rescue Error
        alone("up" => 0)
      end

      def of_file(source)
        stats = source.read(&:stats)
        alone(Catalogue.of_file.to_h { |row| [row.id, stats[row.statistic]] }.compact)
      rescue Absence::NotUsed
        {}
      end

      # Values without labels.
      def alone(values)
        values.transform_values { |value| { {} => value } }
      end
      private_class_method :rows, :down, :of_cache, :of_file, :alone
    end
  end
end
