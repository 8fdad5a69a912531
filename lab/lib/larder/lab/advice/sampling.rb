# frozen_string_literal: true

# Computes with figures and their uncertainty: the median of some rounds, and the same of many resampled rounds. Sums
# and differences of such figures keep what their parts have in common.

require_relative "../statistics"

module Larder
  module Lab
    module Advice
      # Makes figures of samples. Those of one sampling draw the same rounds, so that a slow round is slow for all.
      class Sampling
        # Resamplings behind each interval.
        RESAMPLES = 600

        # @param rounds [Integer]
        # @param seed [Integer]
        def initialize(rounds, seed:)
          random = Random.new(seed)
          @draws = Array.new(RESAMPLES) { Array.new(rounds) { random.rand(rounds) } }
          @rounds = rounds
        end

        # @param samples [Array<Float>] one for each round
        # @return [Figure]
        # @raise [ArgumentError] if there are more or fewer
        def figure(samples)
          unless samples.size == @rounds
            raise ArgumentError, "#{samples.size} samples cannot be drawn as #{@rounds} rounds"
          end

          sorted = @draws.map { |draw| middle(draw.map { |round| samples[round] }.sort) }
          Figure.new([Statistics.median(samples), *sorted])
        end

        private

        def middle(sorted)
          half = sorted.size / 2
          sorted.size.odd? ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2.0
        end
      end

      # A value and its resamplings.
      class Figure
        # @return [Array<Float>] the value first
        attr_reader :values

        # @param number [Numeric] that is sure
        # @return [Figure]
        def self.sure(number)
          new(Array.new(Sampling::RESAMPLES + 1, number.to_f))
        end

        # @param figures [Array<Figure>]
        # @return [Figure]
        def self.sum(figures)
          first, *rest = figures
          rest.inject(first) { |sum, figure| sum + figure }
        end

        # @param values [Array<Float>]
        def initialize(values)
          @values = values
        end

        # @return [Float]
        def value
          values.first
        end

        # @return [Statistics::Estimate] with 95 % of the resamplings
        def estimate
          @estimate ||= Statistics::Estimate.new(value: value, low: Statistics.percentile(drawn, 2.5),
                                                 high: Statistics.percentile(drawn, 97.5))
        end

        # @return [Hash{String=>Float}] a cell of a table
        def cell
          { "value" => value, "low" => estimate.low, "high" => estimate.high }
        end

        # @param other [Figure]
        # @return [Boolean] does the interval of the difference hold 0?
        def same?(other)
          difference = (self - other).estimate
          0.between?(difference.low, difference.high)
        end

        # @param other [Figure]
        # @return [Figure]
        def +(other)
          Figure.new(values.zip(other.values).map { |one, two| one + two })
        end

        # @param other [Figure]
        # @return [Figure]
        def -(other)
          Figure.new(values.zip(other.values).map { |one, two| one - two })
        end

        # @param other [Figure]
        # @return [Figure]
        def /(other)
          Figure.new(values.zip(other.values).map { |one, two| one / two })
        end

        # @param seconds [Float] that are sure
        # @return [Figure] without so much; nothing is less than 0
        def less(seconds)
          Figure.new(values.map { |value| [value - seconds, 0.0].max })
        end

        # @param other [Numeric]
        # @return [Figure]
        def *(other)
          Figure.new(values.map { |value| value * other })
        end

        private

        def drawn
          values.drop(1)
        end
      end
    end
  end
end
