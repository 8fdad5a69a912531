# frozen_string_literal: true

module Larder
  module Lab
    module Reports
      # How numbers are written: three significant digits, thousands apart, units beside them.
      module Figures
        module_function

        # @param number [Numeric]
        # @return [String] three significant digits: "0.812", "28.2", "131", "12,300"
        def significant(number)
          return "0" if number.zero?

          digits = 2 - Math.log10(number.abs).floor
          # 9.999 rounds to 10.0, which has a digit before the point more.
          rounded = number.round(digits)
          digits -= 1 if rounded.abs >= 10**(3 - digits)
          digits.positive? ? format("%.#{digits}f", rounded) : thousands(rounded.to_i)
        end

        # @param number [Integer]
        # @return [String] "12,345,678"
        def thousands(number)
          number.to_s.gsub(/(?<=\d)(?=(\d{3})+\z)/, ",")
        end

        # @param seconds [Float]
        # @return [String] microseconds
        def micros(seconds)
          significant(seconds * 1e6)
        end

        # @param seconds [Float] per call
        # @return [String] calls per second
        def rate(seconds)
          thousands(significant_integer(1.0 / seconds))
        end

        # @param estimate [Statistics::Estimate]
        # @return [String] "28.2 (27.0–29.1)"
        def ratio(estimate)
          "#{significant(estimate.value)} (#{significant(estimate.low)}–#{significant(estimate.high)})"
        end

        # @param bytes [Integer, nil]
        # @return [String] "12.3 MB", "-" for nil
        def megabytes(bytes)
          bytes ? "#{significant(bytes / 1e6)} MB" : "-"
        end

        # @param fraction [Float]
        # @return [String] "3.1 %"
        def percent(fraction)
          value = fraction * 100
          "#{value < 10 ? format("%.1f", value) : value.round} %"
        end

        def significant_integer(number)
          number < 1000 ? number.round : number.round(2 - Math.log10(number).floor)
        end
        private_class_method :significant_integer
      end
    end
  end
end
