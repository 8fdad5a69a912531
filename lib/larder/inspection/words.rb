# frozen_string_literal: true

# Writes numbers, bytes and times for people.

module Larder
  module Inspection
    # Words for figures.
    module Words
      # Seconds, by their names; the largest first.
      NAMES = { "day" => 86_400, "hour" => 3600, "minute" => 60, "second" => 1 }.freeze
      SIZES = %w[bytes KiB MiB GiB TiB].freeze
      BAR = 30
      private_constant :NAMES, :SIZES, :BAR

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

      # @param share [Numeric] 0 to 1
      # @return [String] a bar of 30 characters, at least one of them filled unless the share is 0
      def bar(share)
        filled = share.positive? ? (share * BAR).round.clamp(1, BAR) : 0
        "[#{"#" * filled}#{"-" * (BAR - filled)}]"
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

      # @param seconds [Numeric]
      # @return [String] "45s", "12m", "3h20m", "2d": at most six characters below 1000 days; the rest is cut
      def brief(seconds)
        left = seconds.ceil
        return "#{left / 86_400}d" if left >= 172_800

        hours, minutes = (left / 60).divmod(60)
        return "#{hours}h#{"#{minutes}m" if minutes.positive?}" if hours.positive?

        minutes.positive? ? "#{minutes}m" : "#{left}s"
      end

      def scaled(bytes)
        power = bytes < 1024 ? 0 : [(bytes.bit_length - 1) / 10, SIZES.size - 1].min
        [power.zero? ? count(bytes) : format("%.1f", bytes.fdiv(1024**power)), SIZES[power]]
      end
      private_class_method :scaled
    end
  end
end
