# frozen_string_literal: true

module Larder
  module Lab
    module Reports
      # Every measure with every raw sample, a line for each sample, as RFC 4180 has it: for spreadsheets and R.
      class Csv
        Reports.register("csv", self)

        COLUMNS = %w[key label unit better sample value base].freeze

        # @param document [Document]
        def initialize(document, **)
          @document = document
        end

        # @return [String] lines end with CR LF
        def to_s
          rows = @document.measures.flat_map do |measure|
            measure.samples.each_with_index.map do |value, at|
              [measure.key, measure.label, measure.unit, measure.better, at + 1, value, measure.base]
            end
          end
          [COLUMNS, *rows].map { |row| "#{row.map { |cell| field(cell) }.join(",")}\r\n" }.join
        end

        private

        def field(cell)
          text = cell.to_s
          text.match?(/[",\r\n]/) ? "\"#{text.gsub("\"", "\"\"")}\"" : text
        end
      end
    end
  end
end
