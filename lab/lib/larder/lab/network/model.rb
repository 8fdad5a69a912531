# frozen_string_literal: true

# Computes the simple model of a network: the time without one, plus a round trip, plus the bits divided by the
# bandwidth. `larder-lab advise` uses the same; here its predictions are compared with measurements.

require_relative "../units"
require_relative "results"

module Larder
  module Lab
    module Network
      # Predictions from the medians of a run.
      class Model
        # measured and predicted: seconds of one call
        Check = Struct.new(:row, :payload, :operation, :point, :measured, :predicted, keyword_init: true) do
          # @return [Float] 0.1: it took a tenth longer than predicted
          def error
            (measured / predicted) - 1
          end
        end

        # No round trip, no limit: what everything is reckoned from.
        ORIGIN = Point.new(0.0, nil).freeze
        OPERATIONS = %w[read write].freeze

        # @param results [Results]
        def initialize(results)
          @results = results
        end

        # Where the time of a call goes, as the model has it.
        # @param row [Row]
        # @param payload [String]
        # @param operation [String]
        # @param point [Point]
        # @return [Array<Float>, nil] seconds: store and codec, round trip, sending; nil if that was not measured
        def parts(row, payload, operation, point)
          origin = row.points.include?(ORIGIN) ? ORIGIN : row.points.first
          start = @results.median(row, payload, operation, origin)
          return unless start
          return [start, 0.0, 0.0] unless point.network? && origin.network?

          [start, point.rtt, Units.seconds_to_send(@results.bytes(row, payload) || 0, point.bandwidth)]
        end

        # @return [Array<Check>] for every point that the model says something about
        def checks
          @checks ||= %i[stores codecs].flat_map { |part| @results.measured(part) }.select(&:server).flat_map do |row|
            (row.points - [ORIGIN]).product(row.payloads, OPERATIONS).filter_map { |place| check(row, *place) }
          end
        end

        # How often a call waits for an answer, from what a round trip adds.
        # @return [Statistics::Estimate, nil] nil where no round trip was measured
        def trips(row, payload, operation)
          far = row.points.select { |point| point.network? && point.bandwidth.nil? }.max_by(&:rtt)
          return unless far&.rtt&.positive?

          near, there = [ORIGIN, far].map { |point| @results.seconds(row, payload, operation, point) }
          return if near.empty? || near.size != there.size

          Statistics.estimate(near.zip(there).map { |from, to| (to - from) / far.rtt })
        end

        # What a codec costs and saves beside another, for a write and a read together. seconds: more time that it takes
        # without a limit, an estimate; bits: fewer that it sends.
        Deal = Struct.new(:seconds, :bits, keyword_init: true) do
          # @return [Symbol] :always, :never, :below or :above a bandwidth, or :open if no difference is shown
          # without a limit
          def verdict
            return bits.positive? ? :below : :never if seconds.low.positive?
            return bits.negative? ? :above : :always if seconds.high.negative?

            :open
          end

          # @return [Statistics::Estimate] bits a second at which both take the same time
          def bandwidth
            ends = [seconds.low, seconds.high].map { |each| bits / each }.minmax
            Statistics::Estimate.new(value: bits / seconds.value, low: ends.first, high: ends.last)
          end
        end

        # @param row [Row]
        # @param other [Row]
        # @return [Deal]
        def deal(row, other)
          payload = row.payloads.first
          more = both(row, payload).zip(both(other, payload)).map { |mine, theirs| mine - theirs }
          saved = @results.bytes(other, payload) - @results.bytes(row, payload)
          Deal.new(seconds: Statistics.estimate(more), bits: saved * 8 * OPERATIONS.size)
        end

        # Seconds of a write and a read, by round.
        # @param row [Row]
        # @param payload [String]
        # @param point [Point]
        # @return [Array<Float>]
        def both(row, payload, point = ORIGIN)
          OPERATIONS.map { |operation| @results.seconds(row, payload, operation, point) }.transpose.map(&:sum)
        end

        private

        def check(row, point, payload, operation)
          measured = @results.median(row, payload, operation, point)
          parts = parts(row, payload, operation, point)
          return unless measured && parts

          Check.new(row: row, payload: payload, operation: operation, point: point, measured: measured,
                    predicted: parts.sum)
        end
      end
    end
  end
end
