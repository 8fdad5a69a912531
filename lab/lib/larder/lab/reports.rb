# frozen_string_literal: true

require "json"
require_relative "reports/html"
require_relative "reports/text"

module Larder
  module Lab
    # Forms of a {Document}. Each answers `#to_s`: {Text} for a terminal, {Json} with all that was measured,
    # {Html} for a browser. A new one is one file in reports/, a line here and one in
    # {Commands::Command::FORMS}.
    module Reports
      # The whole document for programs, as schema/ describes it.
      Json = Struct.new(:document) do
        # @return [String]
        def to_s = "#{JSON.pretty_generate(finite(document.to_h))}\n"

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
