# frozen_string_literal: true

require_relative "../figures"

module Larder
  module Lab
    module Reports
      class Html
        # One axis of a chart: converts values to places, and chooses which values are named on it.
        class Scale
          # A value that is named, and its place.
          Tick = Struct.new(:place, :label)
          # Steps of a linear axis, at most.
          STEPS = 5
          # Characters under a chart on a telephone, and names above each other.
          ROOM = 36
          LEVELS = 8
          # A logarithmic axis over less than this factor would have one name at best.
          SHORT = 3.0
          MANTISSAS = [1, 2, 5, 10].freeze
          NINES = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999].freeze
          private_constant :STEPS, :ROOM, :LEVELS, :SHORT, :MANTISSAS, :NINES

          attr_reader :ticks
          # @return [String] of the axis
          attr_reader :title

          # @param values [Array<Numeric, nil>] that are shown
          def initialize(axis, values, vertical: false)
            @values = values.compact.map(&:to_f).select(&:finite?)
            @values = [0.0, 1.0] if @values.empty?
            @kind = kind(axis.scale)
            @format = @kind == "percentile" ? "percentile" : axis.format
            @title = [axis.title, ("logarithmic" if @kind == "log")].compact.reject(&:empty?).join(", ")
            @ticks = named.map { |value| tick(value) }
            @ticks = @ticks.each_slice(2).map(&:first) until @ticks.size < 2 || apart?(vertical)
          end

          # @return [Float] percent of the axis from its lower end; values beyond an end are there
          def place(value)
            span = project(@high) - project(@low)
            (100 * (project(value.to_f) - project(@low)) / span).clamp(0.0, 100.0).round(1)
          end

          private

          def kind(scale)
            low, high = @values.select(&:positive?).minmax
            scale == "log" && (low.nil? || high / low < SHORT) ? "linear" : scale
          end

          # Sets the ends of the axis.
          def named
            case @kind
            when "log" then decades
            when "percentile" then nines
            else steps
            end
          end

          def project(value)
            case @kind
            when "log" then Math.log10([value, @low].max)
            when "percentile" then -Math.log10(1.0 - value.clamp(0.0, @high))
            else value
            end
          end

          # Steps of 1, 2 or 5 times a power of ten, which begin at 0 if that is not far.
          def steps
            low, high = @values.minmax
            low = 0.0 if low.positive? && low <= high * 0.6
            high = low + (low.zero? ? 1.0 : low.abs) if high <= low
            least = (high - low) / STEPS
            step = above(@format == "integer" ? [least, 1.0].max : least)
            named = (((low / step) + 1e-9).floor..((high / step) - 1e-9).ceil).map { |times| times * step }
            @low, @high = named.minmax
            named.map { |value| value.round([2 - Math.log10(step).floor, 0].max) }
          end

          # Powers of ten; of few, also 2 and 5 times these.
          def decades
            low, high = @values.select(&:positive?).minmax
            @low, @high = below(low), above(high)
            mantissas = @high / @low > 100 ? [1] : MANTISSAS.first(3)
            (Math.log10(@low).floor..Math.log10(@high).ceil)
              .flat_map { |power| mantissas.map { |mantissa| mantissa * (10.0**power) } }
              .select { |value| value.between?(@low * 0.999_999, @high * 1.000_001) }
          end

          def nines
            @low, @high = @values.select { |value| value < 1.0 }.minmax
            @low, @high = 0.0, [*@high, 0.9].max if @low == @high
            NINES.select { |value| value.between?(@low, @high) }
          end

          def above(value) = round(value).find { |each| each >= value * 0.999_999 }

          def below(value) = round(value).reverse.find { |each| each <= value * 1.000_001 }

          # Values around this one.
          def round(value) = MANTISSAS.map { |mantissa| mantissa * (10.0**Math.log10(value).floor) }

          # Zeros at the end say nothing.
          def tick(value)
            label = Figures.text(value, @format).sub(/(\.\d*?)0+(?=\D|\z)/, "\\1").sub(/\.(?=\D|\z)/, "")
            Tick.new(place(value), label)
          end

          def apart?(vertical)
            labels = @ticks.map(&:label)
            labels.uniq == labels && (vertical ? labels.size <= LEVELS : labels.sum { |label| label.size + 2 } <= ROOM)
          end
        end
      end
    end
  end
end
