# frozen_string_literal: true

# Sets what the formulae of a {Fleet} say beside what a Redis has counted.

module Larder
  module Lab
    module Layered
      # Rows of a table.
      module Simulated
        # Words, and what of the fleet and of the counts.
        FIGURES = {
          "reads answered by files, %" => [->(fleet) { fleet.hit_ratio * 100 }, ->(seen) { seen[:hit_ratio] * 100 }],
          "GET a second" => [:remote_reads.to_proc, ->(seen) { seen[:reads] }],
          "SET a second" => [:changes.to_proc, ->(seen) { seen[:writes] }],
          "PUBLISH a second" => [:changes.to_proc, ->(seen) { seen[:messages] }],
          "connections" => [->(fleet) { fleet.remote_connections + fleet.listeners + fleet.publishers },
                            ->(seen) { seen[:connections] }],
          "of them listening" => [:listeners.to_proc, ->(seen) { seen[:listeners] }]
        }.freeze

        module_function

        # @param fleet [Fleet]
        # @param counted [Hash{Symbol=>Numeric}] see {Results#simulation}
        # @return [Array<Array>] words, by formula, counted, and how far they are apart
        def rows(fleet, counted)
          FIGURES.map do |words, (formula, count)|
            expected, found = [formula.call(fleet), count.call(counted)].map(&:to_f)
            [words, expected, found, found.zero? ? nil : (expected / found) - 1]
          end
        end

        # @return [Float] how far that is off by most
        def worst(fleet, counted)
          rows(fleet, counted).filter_map { |row| row.last&.abs }.max
        end
      end
    end
  end
end
