# frozen_string_literal: true

require_relative "../document"
require_relative "comparison"

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
            base = Comparison.new(@results, group).base
            @results.measured(group).flat_map { |name| [*times(group, name, base), bytes(group, name)] }
          end
        end

        private

        def times(group, name, base)
          @operations.filter_map do |operation|
            samples = @results.seconds(name, group, operation)
            next if samples.empty?

            paired = base != name && @results.seconds(base, group, operation).size == samples.size
            Document::Measure.new(key: key(group, operation, name), label: "#{name}: #{operation}, #{group}",
                                  unit: "seconds", better: "lower", samples: samples,
                                  base: paired ? key(group, operation, base) : nil)
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
