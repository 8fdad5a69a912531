# frozen_string_literal: true

require_relative "../bench/verdict"

module Larder
  module Lab
    module Reports
      # Writes numbers, with three significant digits, thousands apart and units; and the cells of a {Document::Table},
      # by the format of their column.
      module Figures
        # Prefixes of units by their powers of 1,000.
        PREFIXES = { -3 => "n", -2 => "µ", -1 => "m", 0 => "", 1 => "k", 2 => "M", 3 => "G", 4 => "T" }.freeze
        private_constant :PREFIXES
        # The blank between a number and its unit, where no line breaks.
        UNIT = %r{(?<=\d) (?=(?:%|[nµm]?s|[kMGT]?B|[kMGT]?bit/s)(?!\w))}
        # The text of an empty cell.
        NOTHING = "–"
        # Behind an interval in which no difference is shown.
        SAME = Bench::Verdict::MARKS.fetch(:alike)
        # How columns and axes are written.
        FORMATS = {
          "text" => :to_s.to_proc,
          "number" => ->(value) { significant(value) },
          "integer" => ->(value) { thousands(value.round) },
          "micros" => ->(seconds) { significant(seconds * 1e6) },
          "millis" => ->(seconds) { significant(seconds * 1e3) },
          "seconds" => ->(seconds) { duration(seconds) },
          "rate" => ->(seconds) { seconds.zero? ? NOTHING : significant(1 / seconds) },
          "bytes" => ->(bytes) { bytes(bytes) },
          "megabytes" => ->(bytes) { significant(bytes / 1e6) },
          "percent" => ->(share) { percent(share) },
          "share" => ->(share) { "#{format("%.2f", share * 100)} %" },
          "percentile" => ->(share) { "p#{format("%.6g", (share * 100).round(6))}" },
          "ratio" => ->(value) { significant(value) }
        }.freeze

        module_function

        # @param value [Object] a cell
        # @param kind [String, nil] a key of {FORMATS}
        # @raise [KeyError] for an unknown format
        def text(value, kind = nil)
          case value
          when nil then NOTHING
          when true then "yes"
          when false then "no"
          when String then value
          when Float::INFINITY then "∞"
          when Hash then interval(value, kind)
          else value.to_f.finite? ? FORMATS.fetch(kind || "number").call(value) : NOTHING
          end
        end

        # @param low [String] as {text} gives it
        # @return [String] "18.2–20.0 µs": a unit that both have stands once
        def range(low, high)
          unit = high[/(?<=\d)[^\d]+\z/]
          "#{unit ? low.delete_suffix(unit) : low}–#{high}"
        end

        # @return [String] three significant digits: "0.812", "28.2", "131", "12,300"
        def significant(number)
          return "0" if number.zero?

          digits = 2 - Math.log10(number.abs).floor
          # 9.999 rounds to 10.0, which has a digit before the point more.
          rounded = number.round(digits)
          digits -= 1 if rounded.abs >= 10**(3 - digits)
          digits.positive? ? format("%.#{digits}f", rounded) : thousands(rounded.to_i)
        end

        # @return [String] "12,345,678"
        def thousands(number) = number.to_s.gsub(/(?<=\d)(?=(\d{3})+\z)/, ",")

        # @return [String] in the unit that suits: "12 B", "1.02 kB", "256 MB"
        def bytes(bytes) = bytes.round.abs < 1000 ? "#{bytes.round} B" : scaled(bytes, "B", 1..4)

        # @return [String] in the unit that suits: "3.17 Gbit/s"
        def bits(bits) = scaled(bits, "bit/s", 0..4)

        # @return [String] in the unit that suits: "1.31 µs", "12.5 ms", "3.2 s"
        def duration(seconds) = scaled(seconds, "s", -3..0)

        # @return [String] "45 s" or "3 min 20 s"
        def span(seconds)
          whole = [seconds.round, 1].max
          whole < 60 ? "#{whole} s" : "#{whole / 60} min#{" #{whole % 60} s" unless (whole % 60).zero?}"
        end

        # @return [String] "3.1 %"
        def percent(fraction)
          value = fraction * 100
          "#{value.abs < 10 ? format("%.1f", value) : thousands(value.round)} %"
        end

        # @return [String] with a capital, and without changing other letters
        def begun(words) = words[0].upcase + words[1..]

        # @return [String] "28.2 (27.0–29.1)"
        def interval(cell, kind)
          value, low, high = cell.values_at("value", "low", "high").map { |each| each && text(each, kind) }
          "#{value}#{" (#{range(low, high)})" if low && high}#{" #{SAME}" if cell["same"]}"
        end

        # A number that rounds to 1,000 has the next prefix.
        def scaled(number, unit, powers)
          return "0 #{unit}" if number.zero?

          rounded = number.to_f.round(2 - Math.log10(number.abs).floor)
          power = (Math.log10(rounded.abs) / 3).floor.clamp(powers)
          "#{significant(rounded / (1000.0**power))} #{PREFIXES[power]}#{unit}"
        end
        private_class_method :interval, :scaled
      end
    end
  end
end
