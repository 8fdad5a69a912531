# frozen_string_literal: true

# Decides whether the aged file became slower or smaller: compares its figures with those of fresh files, at the start
# and at the end.

require_relative "statistics"

module Soak
  # Judges what the meter measured.
  class Drift
    MOST = 0.05

    # Groups from which on an interval says something.
    LEAST_GROUPS = 12

    # One figure of one operation: the aged file against fresh ones at the end, over the same at the start.
    Line = Struct.new(:operation, :figure, :aged, :fresh, :ratio, :noise, :groups) do
      # @return [Float] how much worse, as a share: less of throughput, more of time
      def worse
        figure == "p999_us" ? ratio.middle - 1 : 1 - ratio.middle
      end

      # The whole interval is worse by more than is allowed.
      def slower?
        figure == "p999_us" ? ratio.low > 1 + MOST : ratio.high < 1 - MOST
      end

      # Two fresh files that were treated alike differ as much: the machine decides such a figure.
      def noisy?
        groups < LEAST_GROUPS || (noise.middle - 1).abs > MOST
      end

      # :holds, :fails, or :undecided, where the noise of the machine is too great to tell
      def verdict
        return :holds if worse <= MOST

        slower? && !noisy? ? :fails : :undecided
      end

      # @return [String]
      def to_s
        unit = figure == "p999_us" ? "us p99.9" : "calls/s "
        format("%-13s %10s %s, fresh %10s: %s; two fresh files differ by %s%s", operation, number(aged), unit,
               number(fresh), ratio, noise, { fails: "  SLOWER", undecided: "  undecided" }[verdict])
      end

      def number(value)
        figure == "p999_us" ? format("%.2f", value) : value.round.to_s
      end
    end

    # @param first [Array<Hash>] of Meter#measure
    # @param last [Array<Hash>]
    def initialize(first, last)
      @lines = last.zip(first).map do |after, before|
        Line.new(after[:operation], after[:figure], Estimate.of(after[:aged]).middle, Estimate.of(after[:fresh]).middle,
                 ratio(after) / ratio(before), noise(after), [after, before].map { |each| each[:aged].size }.min)
      end
    end

    # @return [Array<Line>]
    attr_reader :lines

    private

    def ratio(figures)
      Estimate.of(figures[:aged].each_index.map do |index|
        figures[:aged][index] / Math.sqrt(figures[:fresh][index] * figures[:fresh_again][index])
      end)
    end

    def noise(figures)
      Estimate.of(figures[:fresh].zip(figures[:fresh_again]).map { |one, other| other / one })
    end
  end
end
