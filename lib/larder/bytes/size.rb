# frozen_string_literal: true

# Parses sizes such as "512MB" from settings, environment variables and the command line, and writes them.

module Larder
  # Sizes in words. A unit is a power of 1024 however it is spelt, as ActiveSupport's `256.megabytes` is: "256MB",
  # "256 MiB" and "256m" are the same number of bytes.
  module Size
    # Bytes of a unit, by its first letter.
    UNITS = { "" => 1, "k" => 1 << 10, "m" => 1 << 20, "g" => 1 << 30, "t" => 1 << 40 }.freeze
    WRITTEN = /\A(?<number>\d{1,20}(?:\.\d{1,20})?) ?(?:(?<unit>[kmgt])(?:i?b)?|b|bytes?)?\z/i
    ACCEPTED = 'a positive number of bytes (268435456), or one with a unit: "256MB", "512 MiB", "1.5GB", "1TB", ' \
               "where 1 KB is 1024 bytes"
    private_constant :UNITS, :WRITTEN, :ACCEPTED

    module_function

    # @param given [String, Integer, Float] "1GB", "512 MiB", "268435456", 268_435_456; a part of a byte is dropped
    #   from text, and refused in a Float
    # @param name [String] what the error calls it
    # @return [Integer] bytes, at least 1. Whether a cache can have that size is not looked at.
    # @raise [ArgumentError] names the offender and what is accepted
    # @example
    #   Larder::Size.parse("256MB") #=> 268435456
    def parse(given, name = "size")
      bytes = given.is_a?(String) ? bytes_of(given.scrub.strip) : whole(given)
      return bytes if bytes&.positive?

      raise ::ArgumentError, "#{name} #{given.inspect} is no size; give #{ACCEPTED}"
    end

    # @param bytes [Integer]
    # @return [String] "256.0 MiB"
    def text(bytes)
      format("%.1f MiB", bytes.fdiv(1 << 20))
    end

    def bytes_of(text)
      match = WRITTEN.match(text)
      (match[:number].to_r * UNITS.fetch(match[:unit].to_s.downcase)).floor if match
    end

    # 1.5.gigabytes is a Float.
    def whole(given)
      case given
      when Integer then given
      when Float then given.to_i if given.finite? && given == given.floor
      end
    end

    private_class_method :bytes_of, :whole
  end
end
