# frozen_string_literal: true

# Writes numbers, times and names in the few characters that a column of a table has.

require_relative "words"

module Larder
  module Inspection
    # Short forms for tables; {Words} has the long ones.
    module Brief
      COUNTS = ["", "k", "M", "G", "T"].freeze
      BYTES = ["B", "K", "M", "G", "T"].freeze
      # Characters that take two columns, and none.
      WIDE = Regexp.union(/[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f]/,
                          /[\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/)
      NARROW = /[\p{Mn}\p{Me}]/
      private_constant :COUNTS, :BYTES, :WIDE, :NARROW

      module_function

      # @param number [Numeric]
      # @return [String] "9,999", "12.4k", "1.9M": at most six characters below 1,000 T
      def count(number)
        number < 10_000 ? Words.count(number.round) : scaled(number, 1000, COUNTS)
      end

      # @param number [Numeric] a second
      # @return [String] as {count}; with one decimal below 10
      def rate(number)
        number < 9.95 ? decimal(number) : count(number)
      end

      # @param bytes [Numeric]
      # @return [String] "812B", "1.2K", "61.0M"; a unit is 1024 of the one before
      def bytes(bytes)
        scaled(bytes, 1024, BYTES)
      end

      # @param seconds [Numeric, nil]
      # @return [String, nil] "0.4ms", "41ms", "1.2s", "45s", "12m", "3h12m", "2d4h"
      def span(seconds)
        return if seconds.nil?
        return "#{decimal(seconds * 1e3)}ms" if seconds < 0.00995
        return "#{(seconds * 1e3).round}ms" if seconds < 0.9995
        return "#{decimal(seconds)}s" if seconds < 59.5

        minutes = (seconds / 60.0).round
        return "#{minutes}m" if minutes < 60
        return units(minutes, 60, "h", "m") if minutes < 2880

        units(minutes / 60, 24, "d", "h")
      end

      # @param error [Integer]
      # @param number [Integer] whose error it is
      # @return [String, nil] "±3 %"; nil: the number is exact
      def error(error, number)
        "±#{[(100.0 * error / number).ceil, 999].min} %" if error.positive? && number.positive?
      end

      # @param share [Numeric] 0 to 1
      # @param size [Integer] characters
      # @return [String] "####----"; at least one is filled unless the share is 0
      def bar(share, size)
        filled = share.positive? ? (share * size).round.clamp(1, size) : 0
        ("#" * filled).ljust(size, "-")
      end

      # @param text [String] of printable characters
      # @return [Integer] columns of a terminal
      def columns(text)
        text.ascii_only? ? text.size : text.size + text.scan(WIDE).size - text.scan(NARROW).size
      end

      # @param text [String] of printable characters
      # @param width [Integer] columns, at least 2
      # @return [String] of that number of columns; of a longer text both ends, because both distinguish names
      def fitted(text, width)
        return text + (" " * (width - columns(text))) if columns(text) <= width

        head = taken(text, width / 2)
        tail = taken(text.reverse, width - columns(head) - 1).reverse
        fitted("#{head}…#{tail}", width)
      end

      # With one decimal below 10, and without one that is 0.
      def decimal(number)
        return "0" if number.zero?
        return "<0.1" if number < 0.05

        number < 9.95 ? format("%.1f", number).delete_suffix(".0") : number.round.to_s
      end
      private_class_method :decimal

      def taken(text, width)
        text.each_char.with_object(+"") do |character, head|
          break head if columns(head + character) > width

          head << character
        end
      end
      private_class_method :taken

      def scaled(number, base, units)
        power = 0
        # 1023.96 would be shown as 1024.0
        while number >= base - 0.05 && power < units.size - 1
          number = number.fdiv(base)
          power += 1
        end
        digits = power.positive? && number < 99.95 ? 1 : 0
        "#{number.round(digits)}#{units[power]}"
      end
      private_class_method :scaled

      def units(number, base, large, small)
        whole, part = number.divmod(base)
        "#{whole}#{large}#{"#{part}#{small}" if part.positive?}"
      end
      private_class_method :units
    end
  end
end
