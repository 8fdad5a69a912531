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
      # @return [Array<Family>] in the order of the Catalogue; only `larder_up` if the file cannot be read
      # @raise [Source::NoStore] there is no store
      def families(source)
        source.path # raises here, not in the rescue below
        values = values(source)
        Catalogue::ALL.filter_map { |row| row.family(values.fetch(row.id)) if values[row.id]&.any? }
      end

      # @param why [String] a sentence, which is the metric's description
      # @return [Array<Family>] only `larder_up`, which is 0
      def down(why)
        [Catalogue::ALL.first.family({ {} => 0 }).tap { |up| up.help = "0: #{why}" }]
      end

      def values(source)
        { **alone("up" => 1), "build_info" => { { "version" => VERSION } => 1 }, **of_file(source),
          **KeyspaceCounts.read(source.path), **alone(RemoteFigures.new(source).read), **SessionFigures.read }
      rescue Error
        alone("up" => 0)
      end

      def of_file(source)
        stats = source.read(&:stats)
        alone(Catalogue.of_file.to_h { |row| [row.id, stats[row.statistic]] }.compact)
      end

      # Values without labels.
      def alone(values)
        values.transform_values { |value| { {} => value } }
      end
      private_class_method :values, :of_file, :alone
    end
  end
end
