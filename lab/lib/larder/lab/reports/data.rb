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
          "#{JSON.pretty_generate(@document.to_h)}\n"
        end
      end
    end
  end
end
