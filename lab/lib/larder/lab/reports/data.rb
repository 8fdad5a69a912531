# frozen_string_literal: true

require "json"

module Larder
  module Lab
    module Reports
      # The whole document for programs: circumstances, tables, measures, raw samples.
      class Data
        Reports.register("data", self)

        # @param document [Document]
        def initialize(document, **)
          @document = document
        end

        # @return [String]
        def to_s
          "#{JSON.pretty_generate(finite(@document.to_h))}\n"
        end

        private

        # JSON has no word for what came of dividing by nothing.
        def finite(value)
          case value
          when Hash then value.transform_values { |each| finite(each) }
          when Array then value.map { |each| finite(each) }
          when Float then value.finite? ? value : nil
          else value
          end
        end
      end
    end
  end
end
