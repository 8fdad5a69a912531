# frozen_string_literal: true

# Compares rows under load: ratios of paired rounds with intervals, and whether they exceed the noise.

require_relative "../document"
require_relative "../reference"
require_relative "../reports/cells"
require_relative "../statistics"

module Larder
  module Lab
    module Loads
      # How rows relate to one of them, in one quantity.
      class Ratios
        # Rows to compare with, in order of preference.
        PREFERRED = %w[larder memory].freeze

        # @param cell [Hash{String=>Object}] with "same"
        # @param rows [Array<String>] that it compares, where that is to be said
        # @return [String] that no difference is shown, and what is instead
        def self.no_difference(cell, *rows)
          "no difference is shown#{" between #{rows.join(" and ")}" if rows.any?} (#{not_shown(cell)})"
        end

        # @param cell [Hash{String=>Object}] in which no difference is shown
        # @return [String] what it has instead, and why that is not enough where it looks like much
        def self.not_shown(cell)
          text = "ratio #{Reports::Cells.text(cell.except("same"), "ratio")}"
          cell["low"] ? text : "#{text} of too few rounds for an interval"
        end

        # @return [String, nil] the row that others are compared with; nil without samples
        attr_reader :base

        # @param samples [Hash{String=>Array<Float>}] one for each round, by row
        # @param twins [Array<String>] the A/A control and the row that it repeats, or empty
        # @param seed [Integer]
        def initialize(samples, twins:, seed:)
          @samples = samples.reject { |_, values| values.empty? || values.any?(&:nil?) }
          @twins = twins
          @seed = seed
          @base = [*PREFERRED, *@samples.keys].find { |name| @samples.key?(name) }
        end

        # @param row [String]
        # @param other [String]
        # @return [Hash{String=>Object}, nil] a cell: value, low, high, and same: whether no difference is shown; nil
        #   if either has no samples of every round
        def cell(row, other = base)
          estimate = estimate(row, other) or return

          { **estimate.to_h.transform_keys(&:to_s), "same" => same?(estimate) }
        end

        # @param row [String]
        # @param other [String]
        # @return [Statistics::Estimate, nil] how many times as much; nil if either has no samples of every round
        def estimate(row, other = base)
          mine, theirs = @samples.values_at(row, other)
          return unless mine && theirs && mine.size == theirs.size && theirs.none?(&:zero?)

          Statistics.estimate(Statistics.paired_ratios(mine, theirs))
        end

        # @param row [String]
        # @param label [String] for people, after the row's name
        # @yieldparam row [String]
        # @yieldreturn [String] the key of its measure
        # @return [Document::Measure, nil] the row's seconds; nil without samples of every round
        def measure(row, label)
          return unless @samples.key?(row)

          Document::Measure.new(key: yield(row), label: "#{row}: #{label}", unit: "seconds", better: "lower",
                                samples: @samples[row], base: Reference::KEY)
        end

        # How far two measurements of the same contender lay apart.
        # @return [Float, nil] a fraction; nil if nothing was measured twice, or too few rounds
        def noise
          estimate(*@twins)&.noise if @twins.any?
        end

        # @param row [String]
        # @return [Hash{String=>Object}, nil] the median over rounds as a cell; nil without samples of every round
        def median(row)
          values = @samples[row] or return

          Statistics.estimate(values).to_h.transform_keys(&:to_s)
        end

        # @param row [String]
        # @return [Array<Float>, nil] one for each round
        def samples(row)
          @samples[row]
        end

        # @return [Array<String>] rows by their medians, the least first
        def ranking
          @samples.keys.sort_by { |name| Statistics.median(@samples[name]) }
        end

        private

        def same?(estimate)
          floor = 1.0 + [noise.to_f, 0.0].max
          estimate.low <= floor && estimate.high >= 1.0 / floor
        end
      end
    end
  end
end
