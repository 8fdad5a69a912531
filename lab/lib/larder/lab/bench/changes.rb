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
      module Changes
        # The probability that equal runs show any difference.
        ALARM = 0.02
        # The least standard error: that of exact values, which differ by rounding.
        ROUNDING = 1e-9

        # A measure in both runs: `difference` and `error` of the logarithms, with `degrees` of freedom. `allowed` is
        # the logarithm of the ratio up to which a change is not reported, `level` the probability of a false alarm that
        # this measure may have, and `shown` says whether there is a difference.
        Change = Struct.new(:key, :difference, :error, :degrees, :allowed, :level, :shown, keyword_init: true) do
          # The probability of so great a difference, if the true one is not above the allowed one.
          def chance = @chance ||= [2 * Student.tail((difference.abs - allowed) / error, degrees), 1.0].min

          # :slower or :faster (the ratio is above or below 1), :alike if no difference is shown, or :unknown if only
          # one above {Verdict::COARSEST} could have been.
          def verdict
            return difference.positive? ? :slower : :faster if shown

            seen > Math.log(Verdict::COARSEST) ? :unknown : :alike
          end

          # The second value as a multiple of the first.
          def ratio = Math.exp(difference)

          # The ends of the interval of the ratio, which holds for all measures at once.
          def low = Math.exp(difference - reach)
          def high = Math.exp(difference + reach)

          # The smallest ratio above 1 that is found with the probability {Stats::POWER}.
          def detectable = Math.exp(allowed + seen)

          private

          def seen = @seen ||= reach + (Student.quantile(Stats::POWER, degrees) * error)

          def reach = @reach ||= Student.quantile(1.0 - (level / 2), degrees) * error
        end

        module_function

        # A {Change} of each measure, in their order. `before` and `after` have the logarithms by measure; one that a
        # side lacks, or has too few values of, is left out. Changes are reported if the ratio of the greater value to
        # the other is above `allowed`.
        def between(before, after, allowed: 1.0)
          keys = (before.keys & after.keys).select do |key|
            [before[key], after[key]].all? { |values| values.size >= Stats::LEAST_SESSIONS }
          end
          changes = keys.map { |key| change(key, [before[key], after[key]], Math.log(allowed), ALARM / keys.size) }
          changes.sort_by(&:chance)
                 .take_while.with_index { |change, index| change.chance <= ALARM / (keys.size - index) }
                 .each { |change| change.shown = true } # Holm: the first with a greater chance ends it
          changes
        end

        def change(key, sides, allowed, level)
          means = sides.map { |values| Stats.mean(values) }
          variances = sides.map { |values| Stats.standard_error(values)**2 }
          freedom = variances.zip(sides).sum { |variance, values| (variance**2) / (values.size - 1) }
          degrees = freedom.zero? ? sides.sum(&:size) - 2 : ((variances.sum**2) / freedom).round
          Change.new(key: key, difference: means.last - means.first, error: [Math.sqrt(variances.sum), ROUNDING].max,
                     degrees: degrees, allowed: allowed, level: level)
        end
        private_class_method :change
      end
    end
  end
end
