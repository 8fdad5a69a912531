# frozen_string_literal: true

# Computes the results of one store's fillings with objects of one kind.

require_relative "../document"
require_relative "../statistics"

module Larder
  module Lab
    module Capacity
      # One row of a table.
      class Outcome
        # Half the width of a 95 % interval, in standard errors.
        Z = 1.96
        # Names of places, for people.
        PLACES = { "disk" => "disk", "tmpfs" => "memory (tmpfs)", "server" => "memory (server)",
                   "own" => "memory (own)" }.freeze

        # @return [String] of the contender
        attr_reader :name
        # @return [String] of the objects
        attr_reader :kind

        # @param name [String]
        # @param kind [String]
        # @param fillings [Array<Filled>] one for each round
        def initialize(name, kind, fillings)
          @name = name
          @kind = kind
          @fillings = fillings
        end

        # @return [Boolean]
        def measured?
          @fillings.any? && @fillings.all?(&:measured?)
        end

        # @return [String, nil]
        def reason
          @fillings.filter_map(&:reason).first
        end

        # @return [Array<String>] a row without figures
        def why_not
          word = @fillings.any? { |filled| filled.state == :invalid } ? "invalid" : "not measured"
          [name, "#{word}: #{reason}"]
        end

        # @return [Hash{Symbol=>Object}] objects: value, low, high, dots
        def held
          @held ||= estimate(@fillings.map(&:held)) || sampled
        end

        # @return [Hash{Symbol=>Object}, nil] bytes: value, low, high, dots; nil: nothing grew by what is held
        def bytes_each
          return unless @fillings.all?(&:bytes_each)

          @bytes_each ||= estimate(@fillings.map(&:bytes_each)) || by_count
        end

        # @return [Boolean] whether it gave up objects by itself
        def limited?
          @fillings.all? { |filled| filled.found["found"] < filled.found["looked_for"] }
        end

        # @param limit [Integer] bytes
        # @return [Float, nil] of the limit that was taken
        def share(limit)
          taken = median(@fillings.map(&:taken))
          taken && (taken / limit)
        end

        # @return [Integer] bytes of an object
        def payload
          @fillings.first.found["payload"]
        end

        # @return [Integer] writes
        def refused
          @fillings.sum { |filled| filled.found["refused"] }
        end

        # @param limit [Integer] bytes
        # @return [Array<Object>] see {Chapter::COLUMNS}
        def cells(limit)
          evicting = median(@fillings.map { |filled| filled.found["evicting_at"] })
          [name, cell(held), bytes_each && cell(bytes_each), PLACES[@fillings.first.place],
           median(@fillings.map(&:taken)), share(limit), *growths, evicting]
        end

        # @return [Array<Document::Measure>]
        def measures
          [measure("held", "count", "higher", @fillings.map(&:held)),
           measure("bytes", "bytes", "lower", @fillings.filter_map(&:bytes_each))].reject { |each| each.samples.empty? }
        end

        private

        def measure(what, unit, better, samples)
          Document::Measure.new(key: "capacity/#{kind}/#{what}/#{name}", unit: unit, better: better, samples: samples,
                                label: "#{name}, #{kind}, #{what == "held" ? "objects held" : "bytes an object"}")
        end

        def growths
          %w[disk tmpfs server own].map { |place| median(@fillings.map { |filled| filled.found["growth"][place] }) }
        end

        def median(values)
          values.all? ? Statistics.median(values) : nil
        end

        # Of several rounds.
        def estimate(values)
          return if values.one?

          { **Statistics.estimate(values).to_h, dots: values }
        end

        # Of one round: exact where every object was looked for, or none was missed.
        def sampled
          found = @fillings.first.found
          value = @fillings.first.held
          return { value: value } if [found["written"], found["found"]].include?(found["looked_for"])

          share = found["found"].fdiv(found["looked_for"])
          error = Z * Math.sqrt(share * (1 - share) / found["looked_for"]) * found["written"]
          { value: value, low: (value - error).round, high: (value + error).round }
        end

        def by_count
          taken = @fillings.first.taken
          { value: taken.fdiv(held[:value]), low: held[:high] && taken.fdiv(held[:high]),
            high: held[:low] && taken.fdiv(held[:low]) }.compact
        end

        def cell(estimate)
          return estimate[:value] unless estimate[:low]

          estimate.slice(:value, :low, :high).transform_keys(&:to_s)
        end
      end
    end
  end
end
