# frozen_string_literal: true

# Parses durations, bandwidths and sizes as users write them: "0.5ms", "1gbit", "10gb". Reports::Figures prints them.

require_relative "errors"

module Larder
  module Lab
    # Reads the text that was typed after an option. Upper and lower case are the same, a space before the unit does no
    # harm. Another text is a UsageError, which names the option and the forms.
    # @api private
    module Units
      # Seconds.
      DURATIONS = { "ns" => 1e-9, "us" => 1e-6, "µs" => 1e-6, "ms" => 1e-3, "s" => 1.0, "min" => 60.0,
                    "h" => 3600.0 }.freeze
      # Bits a second.
      BANDWIDTHS = { "bit" => 1.0, "kbit" => 1e3, "mbit" => 1e6, "gbit" => 1e9, "tbit" => 1e12 }.freeze
      # Bytes.
      SIZES = { "" => 1, "b" => 1, "kb" => 10**3, "mb" => 10**6, "gb" => 10**9, "tb" => 10**12, "kib" => 1 << 10,
                "mib" => 1 << 20, "gib" => 1 << 30, "tib" => 1 << 40 }.freeze

      module_function

      # The seconds of "0.5ms", "200us", "2s", "0".
      def duration(text, option)
        seconds = text.strip == "0" ? 0 : quantity(text, DURATIONS)
        seconds&.to_f || refuse(option, text, "a duration is written 200us, 0.5ms, 2s, 5min, or 0")
      end

      # The bits a second of "1gbit", "100mbit", "2.5 Gbit/s", "none"; nil: no limit.
      def bandwidth(text, option)
        return nil if %w[none unlimited].include?(text.strip.downcase)

        bits = quantity(text.sub(%r{/s\s*\z}i, ""), BANDWIDTHS)
        return bits.to_f if bits&.positive?

        refuse(option, text, "a bandwidth is written 10kbit, 100mbit, 1gbit (bits a second), or none")
      end

      # The bytes of "10gb", "512MiB", "1048576".
      def size(text, option)
        quantity(text, SIZES)&.round ||
          refuse(option, text, "a size is written 64kb, 10gb, 512MiB, or as a number of bytes")
      end

      def quantity(text, units)
        number, unit = text.strip.match(/\A(\d+(?:\.\d+)?|\.\d+)\s*(\p{L}*)\z/)&.captures
        factor = number && units[unit.downcase.tr("μ", "µ")]
        factor && (Rational(number.start_with?(".") ? "0#{number}" : number) * factor.rationalize)
      end

      def refuse(option, text, forms)
        raise UsageError, "#{option} #{text}: #{forms}"
      end

      private_class_method :quantity, :refuse
    end
  end
end
