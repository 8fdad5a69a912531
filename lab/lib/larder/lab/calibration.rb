# frozen_string_literal: true

# Computes the lengths of blocks from the time of one short lap: how many laps make a block that lasts long enough,
# and how long the whole run will take.

module Larder
  module Lab
    # What a short trial of every contender said.
    class Calibration
      # A block of a store that answers in no time still ends.
      MOST_LAPS = 10_000
      # Calls per lap of the trial, within which it is a tenth of the lap to come.
      TRIAL = (100..500)
      # Calls per lap that even the slowest store makes.
      LEAST = 200

      # Seconds per call, of emptying per stored key, and before a block per call of a lap.
      Cost = Struct.new(:call, :clearing, :setup)

      # @param count [Integer] calls per lap of the blocks to come
      # @return [Integer] calls per lap of the trial
      def self.trial(count)
        [(count / 10).clamp(TRIAL), count].min
      end

      # @return [Integer] calls per lap of the measured blocks; may be lowered by {#fit}
      attr_reader :count

      # @param count [Integer]
      # @param block_seconds [Float, nil] nil: one lap, however long or short
      # @param lap_seconds [Float, nil] no lap should last longer; nil: as long as it takes
      def initialize(count:, block_seconds:, lap_seconds: nil)
        @count = count
        @block_seconds = block_seconds
        @lap_seconds = lap_seconds
        @costs = Hash.new { |costs, contender| costs[contender] = {} }
        @boots = {}
      end

      # @param contender [String]
      # @param seconds [Float] from the start of its process to its first block, and leaving
      # @return [void]
      def booted(contender, seconds)
        @boots[contender] = seconds
      end

      # @param contender [String]
      # @param workload [String]
      # @param pass [String]
      # @param seconds [Float] of the lap
      # @param calls [Integer] n of the lap
      # @param clearing [Float] seconds spent in emptying before it
      # @param setup [Float] seconds spent before the block, in filling the store and warming up
      # @return [void]
      def add(contender, workload, pass, seconds:, calls:, clearing:, setup: 0.0)
        @costs[contender][[workload, pass]] = Cost.new(*[seconds, clearing, setup].map { |each| each / calls })
      end

      # @return [Boolean] whether the contender was tried
      def known?(contender)
        @boots.key?(contender)
      end

      # @param contender [String]
      # @return [Integer] calls per lap: {#count}, or so many fewer that the longest lap of a slow store ends in time;
      #   to two figures, as nobody reads more
      def count_for(contender)
        slowest = @costs[contender].each_value.map(&:call).max
        return count unless @lap_seconds && slowest&.positive?

        calls = (@lap_seconds / slowest).floor
        calls.floor(2 - calls.digits.size).clamp([LEAST, count].min, count)
      end

      # @param contender [String]
      # @param workload [String]
      # @param pass [String]
      # @return [Integer] laps of a block
      def laps(contender, workload, pass)
        cost = @costs[contender][[workload, pass]]
        return 1 unless @block_seconds && cost&.call&.positive?

        (@block_seconds / (cost.call * count_for(contender))).ceil.clamp(1, MOST_LAPS)
      end

      # @param contender [String]
      # @return [Hash{String=>Hash{String=>Integer}}] laps by workload and pass
      def plan(contender)
        @costs[contender].keys.each_with_object({}) do |(workload, pass), plan|
          (plan[workload] ||= {})[pass] = laps(contender, workload, pass)
        end
      end

      # @param contender [String]
      # @return [Float] estimated seconds of one round
      def seconds(contender)
        work = @costs[contender].sum do |(workload, pass), cost|
          count_for(contender) * ((laps(contender, workload, pass) * (cost.call + cost.clearing)) + cost.setup)
        end
        @boots.fetch(contender, 0.0) + work
      end

      # @param contenders [Array<String>] one for each row
      # @param rounds [Integer]
      # @return [Float] estimated seconds of the whole run
      def total(contenders, rounds)
        contenders.sum { |contender| seconds(contender) } * rounds
      end

      # Lowers {#count} until the run fits.
      # @param limit [Float] seconds
      # @param contenders [Array<String>]
      # @param rounds [Integer]
      # @param least [Integer] the count is not lowered further
      # @return [Boolean] whether it had to be lowered
      def fit(limit, contenders, rounds, least: 100)
        before = count
        @count = [count * 3 / 4, least].max while total(contenders, rounds) > limit && count > least
        count < before
      end
    end
  end
end
