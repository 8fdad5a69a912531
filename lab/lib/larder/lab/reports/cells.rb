# frozen_string_literal: true

require_relative "../bench/verdict"
require_relative "figures"

module Larder
  module Lab
    module Reports
      # Writes the cells of a {Document::Table} as text, by the format of their column.
      module Cells
        # The text of an empty cell.
        NOTHING = "–"
        # Behind an interval in which no difference is shown.
        SAME = Bench::Verdict::MARKS.fetch(:alike)

        FORMATS = {
          "text" => :to_s.to_proc,
          "number" => ->(value) { Figures.significant(value) },
          "integer" => ->(value) { Figures.thousands(value.round) },
          "micros" => ->(value) { Figures.micros(value) },
          "millis" => ->(value) { Figures.significant(value * 1e3) },
          "seconds" => ->(value) { Figures.duration(value) },
          "rate" => ->(seconds) { seconds.zero? ? NOTHING : Figures.significant(1 / seconds) },
          "bytes" => ->(value) { Figures.bytes(value) },
          "megabytes" => ->(value) { Figures.significant(value / 1e6) },
          "percent" => ->(value) { Figures.percent(value) },
          "share" => ->(value) { "#{format("%.2f", value * 100)} %" },
          "percentile" => ->(value) { "p#{format("%.6g", (value * 100).round(6))}" },
          "ratio" => ->(value) { Figures.significant(value) }
        }.freeze

        module_function

        # @param value [Object] a cell
        # @param kind [String, nil] a key of {FORMATS}
        # @return [String]
        # @raise [KeyError] for an unknown format
        def text(value, kind = nil)
          case value
          when nil then NOTHING
          when true then "yes"
          when false then "no"
          when String then value
          when Float::INFINITY then "∞"
          when Hash then interval(value, kind)
          when Float then value.finite? ? FORMATS.fetch(kind || "number").call(value) : NOTHING
          else FORMATS.fetch(kind || "number").call(value)
          end
        end

        # @param low [String] as {text} gives it
        # @param high [String]
        # @return [String] "18.2–20.0 µs": a unit that both have stands once
        def range(low, high)
          unit = high[/(?<=\d)[^\d]+\z/]
          "#{unit ? low.delete_suffix(unit) : low}–#{high}"
        end

        # @param cell [Hash{String=>Object}] value, low, high, same
        # @return [String] "28.2 (27.0–29.1)"
        def interval(cell, kind)
          value, low, high = cell.values_at("value", "low", "high").map { |each| each && text(each, kind) }
          range = low && high && " (#{Cells.range(low, high)})"
          "#{value}#{range}#{" #{SAME}" if cell["same"]}"
        end
        private_class_method :interval
      end
    end
  end
end
