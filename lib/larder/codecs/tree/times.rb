# frozen_string_literal: true

# Times, dates and durations as parts.

require "larder/larder"
require "larder/codecs/tree/parts"

module Larder
  module Tree
    # Of the calendar and the clock.
    # @api private
    module Times
      TAKERS = {
        "Time" => :take_time, "ActiveSupport::TimeWithZone" => :take_time_with_zone, "Date" => :take_date,
        "DateTime" => :take_date_time, "ActiveSupport::Duration" => :take_duration,
        "ActiveSupport::TimeZone" => :take_time_zone
      }.freeze
      FRACTIONS = 1_000_000_000
      DURATION_STATE = %i[@value @parts @variable].freeze

      # The name of a zone in Marshal's bytes of a time, after those of its instant.
      ZONE = ":\tzone".b.freeze
      NO_ZONE = "#{ZONE}0".b.freeze
      MARSHALLED_INSTANT = "\x04\bIu:\tTime\r".bytesize + 8
      private_constant :FRACTIONS, :DURATION_STATE, :ZONE, :NO_ZONE, :MARSHALLED_INSTANT

      private

      # With the name of its zone, which need not be that of the place where it is read.
      def take_time(time)
        seconds, zone = time.to_i, time.zone
        return unless Parts.plain?(time) && (time.subsec * FRACTIONS).denominator == 1 && Parts::SECONDS === seconds &&
                      Parts::ZONE === zone && Parts::OFFSET === time.utc_offset

        [TIME, [seconds, time.nsec, *(time.utc? ? [nil, nil] : [time.utc_offset, zone])]]
      end

      # Local where that is the same; elsewhere Marshal alone gives a time the name of a zone.
      def make_time(seconds, nanoseconds, offset, zone)
        return Time.at(seconds, nanoseconds, :nsec).utc unless offset
        return Time.at(seconds, nanoseconds, :nsec, in: offset) unless zone

        local = Time.at(seconds, nanoseconds, :nsec)
        local.utc_offset == offset && local.zone == zone ? local : named_time(local, offset, zone)
      end

      # Of Marshal's bytes, in which a time of an offset has no zone.
      def named_time(time, offset, zone)
        zone = zone.encode(Encoding::US_ASCII) if zone.ascii_only?
        bytes = Marshal.dump(time.getlocal(offset))
        bytes[bytes.index(NO_ZONE, MARSHALLED_INSTANT), NO_ZONE.bytesize] = ZONE + Marshal.dump(zone).byteslice(2..)
        Marshal.load(bytes)
      end

      def take_time_with_zone(time)
        utc, zone = time.utc, time.time_zone
        return unless (utc.subsec * FRACTIONS).denominator == 1 && Parts::SECONDS === utc.to_i && known_zone?(zone)

        [TIME_WITH_ZONE, [utc.to_i, utc.nsec, zone.name.to_sym]]
      end

      def make_time_with_zone(seconds, nanoseconds, name)
        zone = ActiveSupport::TimeZone[name.name] or return UNREADABLE

        ActiveSupport::TimeWithZone.new(Time.at(seconds, nanoseconds, :nsec).utc, zone)
      end

      def take_time_zone(zone)
        [TIME_ZONE, [zone.name]] if known_zone?(zone)
      end

      def make_time_zone(name)
        ActiveSupport::TimeZone[name] || UNREADABLE
      end

      def known_zone?(zone)
        known = ActiveSupport::TimeZone[zone.name]
        known.equal?(zone) || known == zone # which compares offsets and names
      end

      def take_date(date)
        return unless Parts.plain?(date) && date.start == Date::ITALY && date.day_fraction.zero?

        [DATE, [date.jd]] if Parts::SECONDS === date.jd
      end

      def make_date(day)
        Date.jd(day)
      end

      def take_date_time(time)
        return unless Parts.plain?(time) && time.start == Date::ITALY

        fraction, offset = time.sec_fraction, time.offset
        parts = [time.jd, time.hour, time.min, time.sec, fraction.numerator, fraction.denominator, offset.numerator,
                 offset.denominator]
        [DATE_TIME, parts] if parts.all?(Parts::SECONDS)
      end

      def make_date_time(day, hour, minute, second, part, of_parts, offset, of_offset)
        DateTime.jd(day, hour, minute, second + Rational(part, of_parts), Rational(offset, of_offset))
      end

      def take_duration(duration)
        [DURATION, [duration.value, duration.parts]] if Parts.plain?(duration, DURATION_STATE)
      end

      def make_duration(value, parts)
        return UNREADABLE unless parts.all? { |unit, count| unit.is_a?(Symbol) && count.is_a?(Numeric) }

        ActiveSupport::Duration.new(value, parts)
      end
    end
  end
end
