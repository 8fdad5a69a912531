# frozen_string_literal: true

# Converts values to positions on a chart, and chooses which of them are named on its axes.

require_relative "../cells"
require_relative "lettering"

module Larder
  module Lab
    module Reports
      class Html
        # One axis of a chart: from values to places. Names go up by 1, 2 and 5, or by decades.
        class Scale
          # A named value and where it is.
          Tick = Struct.new(:at, :label, keyword_init: true)

          # A logarithm over less than this factor is divided like a ruler: decades would name one value at best.
          SHORT = 3.0
          MANTISSAS = [1, 2, 5].freeze
          private_constant :SHORT, :MANTISSAS

          # @param axis [Document::Axis]
          # @param values [Array<Float>] all that is to be shown
          # @param from [Numeric] place of the least
          # @param to [Numeric] place of the greatest
          # @param start [Symbol] :zero: it has to begin at 0, as that of bars does; :values: it begins and ends where
          #   the values do; :even: with the names at its ends, and at 0 if that is not far
          # @param marks [Array<Numeric>] values to be named rather than even ones, if there is room for all
          # @param vertical [Boolean] whether names stand above each other
          # @param size [Numeric] of the names' type
          # @return [Scale]
          def self.build(axis, values, from:, to:, start: :even, marks: [], vertical: false, size: 13)
            given = values.compact.map(&:to_f).select(&:finite?)
            kind = { "log" => Log, "percentile" => Percentile }.fetch(start == :zero ? nil : axis.scale, Linear)
            kind = Linear if kind == Log && given.none?(&:positive?)
            kind.new(given, axis.format, from: from, to: to, start: start, marks: marks, vertical: vertical, size: size)
          end

          # @return [Array<Tick>]
          attr_reader :ticks

          # @param given [Array<Float>]
          # @param format [String, nil] see {Cells}
          def initialize(given, format, from:, to:, start:, marks:, vertical:, size:)
            @given = given.empty? ? [0.0, 1.0] : given
            @format = format
            @from = from
            @to = to
            @start = start
            @marks = marks
            @room = vertical ? ->(_) { size * 2.2 } : ->(label) { Lettering.width(label, size) + (size * 1.8) }
            divide
          end

          # @param value [Numeric]
          # @return [Float] place; what is beyond the axis is at its end
          def at(value)
            span = project(@high) - project(@low)
            share = span.zero? ? 0.5 : (project(value) - project(@low)) / span
            @from + (share.clamp(0.0, 1.0) * (@to - @from))
          end

          # @param value [Numeric]
          # @return [String] without the zeros that say nothing
          def label(value)
            Cells.text(value, @format).sub(/(\.\d*?)0+(?=\D|\z)/, "\\1").sub(/\.(?=\D|\z)/, "")
          end

          private

          # Fewer and fewer names, until they stand apart and no two are alike.
          def divide
            8.downto(1).find do |count|
              values = values_for(count)
              wanted = [(@marks if @marks.any?), values].compact.map { |each| named(each) }
              @ticks = wanted.find { |ticks| apart?(ticks) } || wanted.last
              apart?(@ticks)
            end
            @ticks = thinned(@ticks) unless apart?(@ticks)
          end

          # From the greatest down, those that leave room to the one before: tails matter most.
          def thinned(ticks)
            ticks.sort_by(&:at).reverse.each_with_object([]) do |tick, kept|
              kept.unshift(tick) if kept.empty? || apart?([tick, kept.first])
            end
          end

          def named(values)
            values.map { |value| Tick.new(at: at(value), label: label(value)) }
          end

          def apart?(named)
            return false unless named.map(&:label).uniq.size == named.size

            named.sort_by(&:at).each_cons(2).all? do |one, other|
              other.at - one.at >= (@room.call(one.label) + @room.call(other.label)) / 2
            end
          end

          # Equal steps that hold all values. Sets the ends of the axis.
          def steps(low, high, count)
            step = step_for(high - low, count)
            first, last = ((low / step) + 1e-9).floor, ((high / step) - 1e-9).ceil
            digits = [2 - Math.log10(step).floor, 0].max
            (first..last).map { |times| (times * step).round(digits) }
          end

          def ends(low, high, named)
            @low, @high = @start == :values ? [low, high] : [low, high, *named].minmax
            named.select { |value| value.between?(@low, @high) }
          end

          def step_for(span, count)
            least = span.positive? ? span / count : 1.0
            least = [least, 1.0].max if @format == "integer"
            power = 10.0**Math.log10(least).floor
            (MANTISSAS + [10]).map { |mantissa| mantissa * power }.find { |step| step >= least * 0.999_999 }
          end
        end

        # Equal distances for equal differences.
        class Scale::Linear < Scale
          private

          def project(value)
            value.to_f
          end

          def values_for(count)
            low, high = @given.minmax
            low = 0.0 if @start == :zero || (@start == :even && low.positive? && low <= high * 0.6)
            high = low + (low.zero? ? 1.0 : low.abs) if high <= low
            ends(low, high, steps(low, high, count))
          end
        end

        # Equal distances for equal ratios. What is not positive is at the lower end.
        class Scale::Log < Scale
          private

          def project(value)
            Math.log10([value.to_f, @low].max)
          end

          def values_for(count)
            low, high = @given.select(&:positive?).minmax
            return short(low, high, count) if high / low < SHORT

            @low, @high = @start == :values ? [low, high] : [snapped(low, :floor), snapped(high, :ceil)]
            decades = Math.log10(@high / @low)
            marks = marks_between(decades * 3 <= count ? MANTISSAS : [1])
            marks.each_slice([(marks.size / (count + 1.0)).ceil, 1].max).map(&:first)
          end

          def short(low, high, count)
            high = low * 1.1 if high <= low
            ends(low, high, steps(low, high, count).select(&:positive?))
          end

          def marks_between(mantissas)
            (Math.log10(@low).floor..Math.log10(@high).ceil).flat_map do |power|
              mantissas.map { |mantissa| mantissa * (10.0**power) }
            end.select { |mark| mark.between?(@low * 0.999_999, @high * 1.000_001) }
          end

          # To the next of 1, 2 and 5 outwards.
          def snapped(value, direction)
            power = 10.0**Math.log10(value).floor
            marks = [*MANTISSAS, 10].map { |mantissa| mantissa * power }
            return marks.reverse.find { |mark| mark <= value * 1.000_001 } if direction == :floor

            marks.find { |mark| mark >= value * 0.999_999 }
          end
        end

        # Of shares below 1: each nine more is a step.
        class Scale::Percentile < Scale
          NAMED = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999].freeze
          private_constant :NAMED

          # @param value [Numeric]
          # @return [String] "p99.9"
          def label(value)
            Cells.text(value, "percentile")
          end

          private

          def project(value)
            -Math.log10(1.0 - value.to_f.clamp(0.0, @top))
          end

          def values_for(_count)
            below = @given.select { |value| value < 1.0 }
            @top = below.max || 0.9
            @low, @high = [below.min || 0.0, @top].minmax
            @low = 0.0 if @low == @high
            NAMED.select { |value| value.between?(@low, @high) }
          end
        end
      end
    end
  end
end
