# frozen_string_literal: true

require_relative "stats"
require_relative "verdict"

module Larder
  module Lab
    module Bench
      # Compares the same measures before and after a change, with a logarithm for each session or run. For a row that
      # takes turns, it is the logarithm of the row's seconds divided by those of the reference loop in the same passes,
      # so the speed of the machine cancels out. Student's distribution with Welch's degrees of freedom (1947) gives the
      # probability of a difference by chance, and Holm's correction (1979) keeps the probability of any false alarm
      # among all measures below {ALARM}.
      class Changes
        # The probability that equal runs show any difference.
        ALARM = 0.02

        # A measure in both runs.
        class Change
          attr_reader :key

          # `shown` says whether there is a difference. `level` is the probability of a false alarm that this measure
          # may have, and `allowed` the logarithm of the ratio that is not reported.
          def initialize(test, shown, level, allowed)
            @key = test.key
            @test = test
            @shown = shown
            @level = level
            @allowed = allowed
          end

          # :slower or :faster (the ratio is above or below 1), :alike if no difference is shown, or :unknown if only
          # one above {Verdict::COARSEST} could have been.
          def verdict
            return @test.difference.positive? ? :slower : :faster if @shown

            seen > Math.log(Verdict::COARSEST) ? :unknown : :alike
          end

          # The second value as a multiple of the first.
          def ratio = Math.exp(@test.difference)

          # The ends of the interval of the ratio, which holds for all measures at once.
          def low = Math.exp(@test.difference - reach)
          def high = Math.exp(@test.difference + reach)

          # The smallest ratio above 1 that is found with the probability {Stats::POWER}.
          def detectable = Math.exp(@allowed + seen)

          private

          def seen
            @seen ||= reach + (Student.quantile(Stats::POWER, @test.degrees) * @test.error)
          end

          def reach
            @reach ||= Student.quantile(1.0 - (@level / 2), @test.degrees) * @test.error
          end
        end

        # `before` and `after` have a logarithm for each session or run, by measure; those of one side are left out.
        # Changes are reported if the ratio of the greater value to the other is above `allowed`.
        def initialize(before, after, allowed: 1.0)
          @allowed = Math.log(allowed)
          @tests = (before.keys & after.keys).map { |key| Test.of(key, before[key], after[key]) }.compact
        end

        # The changes in the order of the measures.
        def to_a
          @to_a ||= begin
            shown = shown_tests
            @tests.map { |test| Change.new(test, shown.include?(test), ALARM / @tests.size, @allowed) }
          end
        end

        # The least standard error: that of exact values, which differ by rounding.
        ROUNDING = 1e-9

        # The difference of two means: `difference` and `error` of logarithms, `degrees` of freedom.
        Test = Struct.new(:key, :difference, :error, :degrees, keyword_init: true) do
          # nil if a side has too few values
          def self.of(key, before, after)
            return if [before, after].any? { |values| values.size < Stats::LEAST_SESSIONS }

            variances = [before, after].map { |values| Stats.standard_error(values)**2 }
            freedom = variances.zip([before, after]).sum { |variance, values| (variance**2) / (values.size - 1) }
            new(key: key, difference: Stats.mean(after) - Stats.mean(before),
                error: [Math.sqrt(variances.sum), ROUNDING].max,
                degrees: freedom.zero? ? before.size + after.size - 2 : (variances.sum**2) / freedom)
          end

          # The probability of so great a difference, if the true one is not above `allowed`.
          def chance(allowed) = [2 * Student.tail((difference.abs - allowed) / error, degrees), 1.0].min
        end

        private

        # Holm: the smallest probability is compared with the level divided by the number of measures, the next with the
        # level divided by one less, and so on until one is too great.
        def shown_tests
          chances = @tests.to_h { |test| [test.key, test.chance(@allowed)] }
          @tests.sort_by { |test| chances[test.key] }
                .take_while.with_index { |test, index| chances[test.key] <= ALARM / (@tests.size - index) }
        end
      end
    end
  end
end
