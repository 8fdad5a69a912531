# frozen_string_literal: true

require_relative "samples"

module Larder
  module Lab
    module Bench
      # Student's t distribution with a whole number of degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
      # Ruby has none, and no maintained gem has it without a native library.
      module Student
        # Halvings of an interval that holds a quantile.
        HALVINGS = 50

        module_function

        # The probability of a greater value of t with these degrees of freedom.
        def tail(value, degrees)
          angle = Math.atan(value / Math.sqrt(degrees))
          term = degrees.odd? ? Math.cos(angle) : 1.0
          sum = 0.0
          (degrees % 2).step(degrees - 2, 2) do |power|
            sum += term
            term *= (power + 1.0) / (power + 2) * (Math.cos(angle)**2)
          end
          within = Math.sin(angle) * sum
          within = (angle + within) * 2 / Math::PI if degrees.odd?
          (1.0 - within) / 2
        end

        # The value of t that a smaller one is with this probability.
        def quantile(probability, degrees)
          return -quantile(1.0 - probability, degrees) if probability < 0.5

          low = 0.0
          high = 1.0
          high *= 2 while tail(high, degrees) > 1.0 - probability
          HALVINGS.times do
            middle = (low + high) / 2
            tail(middle, degrees) > 1.0 - probability ? low = middle : high = middle
          end
          (low + high) / 2
        end
      end

      # Statistics of turns. All of it works on logarithms, because times are compared as ratios.
      #
      # A session is one set of fresh processes. In each session, the rows take turns, and the median of the
      # differences within a pass, of each copy of one row from each of the other, is that session's value: this
      # removes what changes during a session, such as load and clock rate. The layout of memory and other things that
      # differ from process to process show between sessions only. So the interval is Student's over the sessions'
      # values, and never narrower than the differences between each row and its twin, which is a second process of the
      # same store, allow.
      module Stats
        # How often an interval holds the true ratio.
        CONFIDENCE = 0.98
        # How often a difference of {Estimate#detectable} is found.
        POWER = 0.8
        # Fewer sessions have no interval.
        LEAST_SESSIONS = 3

        # A ratio. `low` and `high` bound it; without an interval they are 0 and infinity. `detectable` is the smallest
        # ratio above 1 that such a run finds with the probability {POWER}; `bias` tells how far a row and its twin
        # differ although both are the same store (1.0: not shown to differ): the interval is wider by so much. `error`
        # is the standard error of the logarithm of the value, with `sessions` - 1 degrees of freedom.
        Estimate = Struct.new(:value, :low, :high, :detectable, :bias, :sessions, :error, keyword_init: true)

        module_function

        # The {Estimate} of the seconds of a call of one series divided by those of the other; nil if they share no
        # session.
        def ratio(numerator, denominator)
          shared = numerator.sessions & denominator.sessions
          return if shared.empty?

          estimate(session_values(numerator, denominator),
                   [numerator, denominator].map { |series| twins(series, shared) })
        end

        # The logarithm of their ratio in the same passes, for each session that both have.
        def session_values(numerator, denominator)
          (numerator.sessions & denominator.sessions).map do |session|
            median(differences(numerator, denominator, session))
          end
        end

        # The seconds of a call.
        def seconds(series)
          Math.exp(mean(series.sessions.map { |session| median(series.logarithms(session).values.flatten) }))
        end

        # The {Estimate} by a logarithm for each session. `twins` has for each row the differences from its twin, one a
        # session.
        def estimate(values, twins = [])
          log = mean(values)
          sessions = values.size
          own = 0.0
          error = width = seen = Float::INFINITY
          if sessions >= LEAST_SESSIONS
            own = twins.map { |differences| bias(differences) }.max || 0.0
            error = [standard_error(values), error_of(twins, sessions)].max
            width = (reach(sessions) * error) + own
            seen = width + (Student.quantile(POWER, sessions - 1) * error)
          end
          Estimate.new(value: Math.exp(log), low: Math.exp(log - width), high: Math.exp(log + width),
                       detectable: Math.exp(seen), bias: Math.exp(own), sessions: sessions, error: error)
        end

        # The {Estimate} of the ratio of two figures that do not differ from session to session: they are alike if it is
        # within `rounding`, a ratio above 1.
        def exact(ratio, rounding)
          Estimate.new(value: ratio, low: ratio / rounding, high: ratio * rounding, detectable: rounding, bias: 1.0,
                       sessions: Float::INFINITY, error: 0.0)
        end

        def median(values)
          sorted = values.sort
          (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
        end

        def mean(values) = values.sum / values.size

        # The standard error of their mean.
        def standard_error(values)
          center = mean(values)
          Math.sqrt(values.sum { |value| (value - center)**2 } / (values.size - 1) / values.size)
        end

        def differences(numerator, denominator, session)
          one = numerator.logarithms(session)
          other = denominator.logarithms(session)
          (one.keys & other.keys).flat_map { |pass| one[pass].product(other[pass]).map { |a, b| a - b } }
        end

        # The differences of a row and its twin, one for each session that has both.
        def twins(series, sessions)
          sessions.filter_map do |session|
            pairs = series.logarithms(session).values.select { |pair| pair.size == 2 }
            median(pairs.map { |row, twin| row - twin }) if pairs.any?
          end
        end

        # A row's value is the mean of two copies, so its variance is a quarter of that of their difference.
        def error_of(twins, sessions)
          variance = twins.reject(&:empty?).sum { |all| all.sum { |value| value**2 } / all.size / 4 }
          Math.sqrt(variance / sessions)
        end

        # 0 unless two copies of the same differ by more than chance explains.
        def bias(differences)
          return 0.0 if differences.size < LEAST_SESSIONS

          distance = mean(differences).abs
          distance > reach(differences.size) * standard_error(differences) ? distance : 0.0
        end

        # Standard errors from the middle of the interval to its ends.
        def reach(sessions) = Student.quantile((1.0 + CONFIDENCE) / 2, sessions - 1)

        private_class_method :differences, :twins, :error_of, :bias, :reach
      end
    end
  end
end
