# frozen_string_literal: true

require_relative "../document"
require_relative "../reference"

module Larder
  module Lab
    module Trials
      # What `compare` sees of a trial: the time of one call in each round, and the bytes.
      class Measures
        # @param results [Results]
        # @param key [String] name of the command
        # @param operations [Array<String>]
        def initialize(results, key, operations)
          @results = results
          @key = key
          @operations = operations
        end

        # @return [Array<Document::Measure>]
        def to_a
          @results.plan.groups.flat_map do |group|
            @results.measured(group).flat_map { |name| [*times(group, name), bytes(group, name)] }
          end
        end

        private

        def times(group, name)
          @operations.filter_map do |operation|
            samples = @results.seconds(name, group, operation)
            next if samples.empty?

            Document::Measure.new(key: key(group, operation, name), label: "#{name}: #{operation}, #{group}",
                                  unit: "seconds", better: "lower", samples: samples,
                                  base: Reference::KEY)
          end
        end

        def bytes(group, name)
          Document::Measure.new(key: key(group, "bytes", name), label: "#{name}: bytes, #{group}", unit: "bytes",
                                better: "lower", samples: [@results.size(name, group).bytes])
        end

        def key(*parts)
          [@key, *parts.map { |part| part.delete(",*").strip.tr(" ", "-") }].join("/")
        end
      end
    end
  end
end
