# frozen_string_literal: true

module Larder
  module Lab
    module Bench
      # Student's t distribution with any number of degrees of freedom, by the regularized incomplete beta function
      # (Abramowitz and Stegun, 26.5.8 and 26.7.1; the continued fraction by Lentz's method). Ruby has none, and no
      # maintained gem has it without a native library.
      module Student
        # Relative error of the continued fraction.
        PRECISION = 1e-12
        # Keeps a denominator of Lentz's method away from 0.
        TINY = 1e-300
        # Halvings of an interval that holds a quantile.
        HALVINGS = 50
        private_constant :PRECISION, :TINY, :HALVINGS

        module_function

        # The probability of a greater value of t with these degrees of freedom.
        def tail(value, degrees)
          share = 0.5 * incomplete_beta(degrees / (degrees + (value * value)), degrees / 2.0, 0.5)
          value.negative? ? 1.0 - share : share
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

        def incomplete_beta(x, a, b)
          return x if x <= 0.0 || x >= 1.0

          scale = Math.exp(Math.lgamma(a + b)[0] - Math.lgamma(a)[0] - Math.lgamma(b)[0] +
                           (a * Math.log(x)) + (b * Math.log(1.0 - x)))
          return 1.0 - (scale * fraction(1.0 - x, b, a) / b) if x >= (a + 1.0) / (a + b + 2.0)

          scale * fraction(x, a, b) / a
        end

        def fraction(x, a, b)
          c = 1.0
          d = 1.0 / away_from_zero(1.0 - ((a + b) * x / (a + 1.0)))
          result = d
          (1..).each do |m|
            [m * (b - m) * x / ((a + (2 * m) - 1) * (a + (2 * m))),
             -(a + m) * (a + b + m) * x / ((a + (2 * m)) * (a + (2 * m) + 1))].each do |term|
              d = 1.0 / away_from_zero(1.0 + (term * d))
              c = away_from_zero(1.0 + (term / c))
              result *= c * d
            end
            return result if (c * d - 1.0).abs < PRECISION
          end
        end

        def away_from_zero(number) = number.abs < TINY ? TINY : number
        private_class_method :incomplete_beta, :fraction, :away_from_zero
      end
    end
  end
end
