# frozen_string_literal: true

# Owns the comparison of one measure of two runs: by how much it changed, and whether a change is shown at all.

require_relative "../statistics"

module Larder
  module Lab
    # What `larder-lab compare` finds out about two runs.
    module Comparing
      # One measure in two runs. In relation to its base where it has one in both: then a machine that was faster or
      # slower as a whole changes nothing.
      class Change
        # Units of which a single sample is exact.
        EXACT = %w[bytes share].freeze

        # @return [Document::Measure] of the first run
        attr_reader :measure

        # @param before [Document::Measure]
        # @param after [Document::Measure]
        # @param bases [Array(Document::Measure, Document::Measure), nil] of both runs
        def initialize(before, after, bases: nil)
          @measure = before
          @after = after
          @bases = bases if bases&.all? && usable?(before, bases[0]) && usable?(after, bases[1])
        end

        # @return [Boolean] whether it is seen in relation to a base
        def relative?
          !@bases.nil?
        end

        # @return [Boolean] whether there is no interval: taken once, and not exact
        def single?
          @after.samples.size < 2 && !EXACT.include?(@measure.unit)
        end

        # @return [Float]
        def before
          Statistics.median(samples(@measure, 0))
        end

        # @return [Float]
        def after
          Statistics.median(samples(@after, 1))
        end

        # @return [Statistics::Estimate, nil] the second over the first; nil where the first is 0
        def ratio
          return @ratio if defined?(@ratio)

          @ratio = Statistics.bootstrap_ratio(samples(@after, 1), samples(@measure, 0)) unless before.zero?
        end

        # @return [Symbol] :worse, :better, or :none if no difference is shown
        def verdict
          return :none if ratio.nil? || single?
          return :none if 1.0.between?(ratio.low, ratio.high)

          (ratio.value > 1.0) == (@measure.better == "lower") ? :worse : :better
        end

        # @return [Float] 0..1: how probable it is that a difference is shown where there is none
        def error
          return 0.0 if single? || EXACT.include?(@measure.unit)

          [1.0 - Statistics::CONFIDENCE, Statistics.apart(@measure.samples.size, @after.samples.size)].max
        end

        # @param share [Float] 0.05 for five percent
        # @return [Boolean] whether it is shown to be worse, and by more than that
        def worse_than?(share)
          return false unless verdict == :worse

          @measure.better == "lower" ? ratio.value > 1.0 + share : ratio.value < 1.0 - share
        end

        private

        def usable?(measure, base)
          measure.samples.size == base.samples.size && base.samples.none?(&:zero?)
        end

        def samples(measure, side)
          return measure.samples unless @bases

          Statistics.paired_ratios(measure.samples, @bases[side].samples)
        end
      end
    end
  end
end
