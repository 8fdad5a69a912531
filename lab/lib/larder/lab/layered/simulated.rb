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
          "PUBLISH a second" => [->(fleet) { fleet.messages / fleet.machines }, ->(seen) { seen[:messages] }],
          "PING a second" => [:pings.to_proc, ->(seen) { seen[:pings] }],
          "connections" => [->(fleet) { fleet.remote_connections + fleet.listeners + fleet.publishers },
                            ->(seen) { seen[:connections] }],
          "of them listening" => [:listeners.to_proc, ->(seen) { seen[:listeners] }]
        }.freeze

        # Behind the point; what is less than that is none.
        DIGITS = 6
        private_constant :DIGITS

        module_function

        # @param fleet [Fleet]
        # @param counted [Hash{Symbol=>Numeric}] see {Results#simulation}
        # @return [Array<Array>] words, by formula, counted, and how far they are apart
        def rows(fleet, counted)
          FIGURES.map do |words, (formula, count)|
            expected, found = [formula.call(fleet), count.call(counted)].map { |number| number.to_f.round(DIGITS) }
            [words, expected, found, apart(expected, found)]
          end
        end

        # Of what is not there nothing is expected.
        def apart(expected, found)
          return (expected / found) - 1 unless found.zero?

          expected.zero? ? 0.0 : Float::INFINITY
        end
        private_class_method :apart

        # @return [Float] how far that is off by most
        def worst(fleet, counted)
          rows(fleet, counted).map { |row| row.last.abs }.max
        end
      end
    end
  end
end
