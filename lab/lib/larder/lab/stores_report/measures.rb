# frozen_string_literal: true

require_relative "../document"
require_relative "../reference"

module Larder
  module Lab
    module StoresReport
      # What `compare` sets beside another run: seconds per call of every row, step and round.
      class Measures
        # @param results [Results]
        def initialize(results)
          @results = results
        end

        # @return [Array<Document::Measure>]
        def to_a
          @results.settings.workload_types.flat_map do |type|
            type.passes.flat_map { |pass| @results.measured.map { |row| measure(row.name, type, pass) } }
          end.reject { |measure| measure.samples.empty? }
        end

        private

        def measure(name, type, pass)
          Document::Measure.new(key: key(name, type, pass), label: "#{name}: #{pass.title}, #{type.title.downcase}",
                                unit: "seconds", better: "lower", base: Reference::KEY,
                                samples: @results.per_call(name, type.key, pass.key))
        end

        def key(name, type, pass)
          "stores/#{type.key}/#{pass.key}/#{name}"
        end
      end
    end
  end
end
