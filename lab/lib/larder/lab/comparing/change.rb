# frozen_string_literal: true

# Compares one measure in two sets of runs: by how much it changed, and whether a change is shown at all.

require_relative "../statistics"

module Larder
  module Lab
    module Comparing
      # One measure in pairs of runs.
      class Change
        # Units of which a single sample is exact.
        EXACT = %w[bytes share].freeze

        # @return [Document::Measure]
        attr_reader :measure

        # @param measure [Document::Measure]
        # @param before [Array<Float>] one for each run
        # @param after [Array<Float>] one for each run
        def initialize(measure, before, after)
          @measure = measure
          @before = before
          @after = after
        end

        # @return [Statistics::Estimate, nil] the second over the first; nil where a first is 0
        def ratio
          return if @before.any?(&:zero?)

          @ratio ||= Statistics.estimate(Statistics.paired_ratios(@after, @before))
        end

        # @return [Symbol] :worse, :better, or :none if no difference is shown
        def verdict
          return :none if ratio.nil? || 1.0.between?(ratio.low, ratio.high)

          (ratio.value > 1.0) == (@measure.better == "lower") ? :worse : :better
        end

        # @return [Float] 0..1: how probable it is that a difference is shown where there is none
        def error
          return 0.0 if EXACT.include?(@measure.unit)

          1.0 - [Statistics::CONFIDENCE, Statistics.confidence_of(@before.size)].min
        end

        # @param share [Float] 0.05 for five percent
        # @return [Boolean] whether it is shown to be worse, and by more than that
        def worse_than?(share)
          return false unless verdict == :worse

          @measure.better == "lower" ? ratio.value > 1.0 + share : ratio.value < 1.0 - share
        end
      end
    end
  end
end
