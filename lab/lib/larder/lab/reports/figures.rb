# frozen_string_literal: true

module Larder
  module Lab
    module Reports
      # How numbers are written: three significant digits, thousands apart, units beside them.
      module Figures
        # Units of durations, and how many seconds they are.
        UNITS = { 1.0 => "s", 1e-3 => "ms", 1e-6 => "µs", 1e-9 => "ns" }.freeze

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
        def thousands(number) = number.to_s.gsub(/(?<=\d)(?=(\d{3})+\z)/, ",")

        # @param seconds [Float]
        # @return [String] microseconds
        def micros(seconds) = significant(seconds * 1e6)

        # @param bytes [Numeric]
        # @return [String] in the unit that suits: "12 B", "1.02 kB", "256 MB"
        def bytes(bytes)
          return "#{bytes.round} B" if bytes.abs < 1000

          scaled(bytes, %w[kB MB GB TB])
        end

        # @param bits [Numeric] bits a second
        # @return [String] in the unit that suits: "3.17 Gbit/s"
        def bits(bits)
          return "#{significant(bits)} bit/s" if bits.abs < 1000

          scaled(bits, %w[kbit/s Mbit/s Gbit/s Tbit/s])
        end

        # @param seconds [Float]
        # @return [String] in the unit that suits: "1.31 µs", "12.5 ms", "3.2 s"
        def duration(seconds)
          return "0 s" if seconds.zero?

          factor, unit = UNITS.find { |size, _| seconds.abs >= size } || UNITS.to_a.last
          "#{significant(seconds / factor)} #{unit}"
        end

        # @param fraction [Float]
        # @return [String] "3.1 %"
        def percent(fraction)
          value = fraction * 100
          "#{value.abs < 10 ? format("%.1f", value) : thousands(value.round)} %"
        end

        # @param words [String]
        # @return [String] with a capital, and without changing other letters
        def begun(words) = words[0].upcase + words[1..]

        # Units go up by thousands, from a thousand.
        def scaled(number, units)
          power = (Math.log10(number.abs) / 3).floor.clamp(1, units.size)
          "#{significant(number.fdiv(1000**power))} #{units[power - 1]}"
        end
        private_class_method :scaled
      end
    end
  end
end
