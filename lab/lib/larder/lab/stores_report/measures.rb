# frozen_string_literal: true

require_relative "../document"

module Larder
  module Lab
    module StoresReport
      # What `compare` sets beside another run: seconds per call of every row, step and round, in relation to the base.
      class Measures
        # @param results [Results]
        # @param comparison [Comparison]
        def initialize(results, comparison)
          @results = results
          @comparison = comparison
        end

        # @return [Array<Document::Measure>]
        def to_a
          @results.settings.workload_types.flat_map do |type|
            type.passes.flat_map { |pass| @results.measured.map { |row| measure(row.name, type, pass) } }
          end
        end

        private

        def measure(name, type, pass)
          base = @comparison.base
          Document::Measure.new(key: key(name, type, pass), label: "#{name}: #{pass.title}, #{type.title.downcase}",
                                unit: "seconds", better: "lower", base: (key(base, type, pass) unless name == base),
                                samples: @results.per_call(name, type.key, pass.key))
        end

        def key(name, type, pass)
          "stores/#{type.key}/#{pass.key}/#{name}"
        end
      end
    end
  end
end
