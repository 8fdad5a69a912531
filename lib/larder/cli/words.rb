# frozen_string_literal: true

# Owns how numbers, bytes and times are written for people, and how people write times.

require_relative "errors"

module Larder
  module CLI
    # Words for figures.
    module Words
      # Seconds, by what users type after a number.
      UNITS = { "s" => 1, "m" => 60, "min" => 60, "h" => 3600, "d" => 86_400, "w" => 7 * 86_400 }.freeze
      # Seconds, by their names; the largest first.
      NAMES = { "day" => 86_400, "hour" => 3600, "minute" => 60, "second" => 1 }.freeze
      SIZES = %w[bytes KiB MiB GiB TiB].freeze
      private_constant :UNITS, :NAMES, :SIZES

      module_function

      # @param number [Integer]
      # @return [String] "12,408"
      def count(number)
        number.to_s.gsub(/(?<=\d)(?=(\d{3})+\z)/, ",")
      end

      # @param number [Integer]
      # @param noun [String]
      # @return [String] "1 session", "2 sessions"
      def counted(number, noun)
        "#{count(number)} #{noun}#{"s" unless number == 1}"
      end

      # @param share [Numeric] 0 to 1
      # @return [String] "21 %"; what is neither nothing nor all is not called so
      def percent(share)
        return "<1 %" if share.positive? && share < 0.01
        return ">99 %" if share < 1 && share > 0.99

        "#{(share * 100).round} %"
      end

      # @param bytes [Integer]
      # @return [String] "256.0 MiB"
      def bytes(bytes)
        scaled(bytes).join(" ")
      end

      # @param part [Integer] bytes
      # @param whole [Integer] bytes
      # @return [String] "8.9 of 42.7 MiB"
      def bytes_of(part, whole)
        (number, unit), (most, most_unit) = [part, whole].map { |bytes| scaled(bytes) }
        unit == most_unit ? "#{number} of #{most} #{unit}" : "#{number} #{unit} of #{most} #{most_unit}"
      end

      # @param seconds [Numeric]
      # @return [String] "30 days", "1 hour 30 minutes"
      def span(seconds)
        return "1 day" if seconds == 86_400

        left = seconds.round
        parts = NAMES.filter_map do |name, length|
          number, left = left.divmod(length)
          counted(number, name) if number.positive?
        end
        parts.empty? ? "0 seconds" : parts.first(2).join(" ")
      end

      # @param time [Time]
      # @param now [Time]
      # @return [String] "3 minutes ago"; the uses of sessions are known to a minute
      def ago(time, now = Time.now)
        seconds = (now - time).to_i
        return "a moment ago" if seconds < 60

        name, length = NAMES.find { |_, one| seconds >= one }
        "#{counted(seconds / length, name)} ago"
      end

      # @param time [Time]
      # @return [String] "2026-11-22 09:14", of this machine's time zone
      def moment(time)
        time.getlocal.strftime("%F %H:%M")
      end

      # @param text [String] "90s", "5m", "2h", "1d", "1w"
      # @param option [String] what it was given to
      # @return [Integer] seconds
      # @raise [UsageError] naming the forms
      def seconds(text, option)
        number, unit = text.match(/\A(\d{1,9})\s*([a-z]+)\z/i)&.captures
        seconds = number && UNITS[unit.downcase] && (number.to_i * UNITS[unit.downcase])
        return seconds if seconds&.positive?

        raise UsageError, "#{option} #{text}: a time is written 30s, 5m, 2h, 1d or 1w"
      end

      def scaled(bytes)
        power = bytes < 1024 ? 0 : [(bytes.bit_length - 1) / 10, SIZES.size - 1].min
        [power.zero? ? count(bytes) : format("%.1f", bytes.fdiv(1024**power)), SIZES[power]]
      end
      private_class_method :scaled
    end
  end
end
