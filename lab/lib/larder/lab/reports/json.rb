# frozen_string_literal: true

require "json"

module Larder
  module Lab
    module Reports
      # The whole document for programs, as schema/ describes it.
      class Json
        # @param document [Document]
        def initialize(document)
          @document = document
        end

        # @return [String]
        def to_s = "#{JSON.pretty_generate(finite(@document.to_h))}\n"

        private

        # JSON cannot write the quotient of a division by zero.
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
