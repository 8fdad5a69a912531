# frozen_string_literal: true

# One measured figure, and how it is printed: rounded so that it never looks better than it is.

require_relative "median"

module Bench
  # A failure that the user can fix.
  class Failed < StandardError; end

  # A named figure of a part: its median over rounds, and how far they reach (`low`, `high`; nil for a count).
  Figure = Struct.new(:name, :unit, :median, :low, :high, keyword_init: true) do
    # @param name [String] as {Target#figure} has it
    # @param unit [String]
    # @param rounds [Array<Numeric>] at least one
    # @return [Bench::Figure]
    def self.of_rounds(name, unit, rounds)
      sorted = rounds.sort
      middle = sorted.size / 2
      median = sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
      new(name: name, unit: unit, median: median, low: (sorted.first if sorted.size > 1),
          high: (sorted.last if sorted.size > 1))
    end

    # The same with an interval for the median, see {Median}.
    # @param samples [Array<Numeric>] a value for each round
    # @return [Bench::Figure]
    def self.estimated(name, unit, samples)
      estimate = Median.estimate(samples)
      new(name: name, unit: unit, median: estimate.value, **estimate.to_h.slice(:low, :high))
    end
  end

  # Numbers as text.
  module Rounding
    # Digits that a figure is written with.
    DIGITS = 3

    module_function

    # @param value [Numeric]
    # @param toward [Symbol] :down where more is better, :up where less is, so that what falls short never looks as if
    #   it did not; :nearest where nothing is judged
    # @return [String] three significant digits, thousands separated
    def text(value, toward = :nearest)
      return "0" if value.zero?

      digits = [DIGITS - 1 - Math.log10(value.abs).floor, 0].max
      how = { down: :floor, up: :ceil, nearest: :round }.fetch(toward)
      separated(format("%.#{digits}f", exact(value).public_send(how, digits)))
    end

    # @param number [String]
    # @return [String] with commas between thousands
    def separated(number)
      whole, fraction = number.split(".")
      [whole.gsub(/(\d)(?=(\d{3})+\z)/, "\\1,"), fraction].compact.join(".")
    end

    # 0.3 must not become 0.29 by being cut as a binary fraction.
    def exact(value)
      value.is_a?(Float) ? Rational(value.round(12).to_s) : value
    end
    private_class_method :exact
  end
end
