# frozen_string_literal: true

# Parses the time between two readings, and waits for it.

require_relative "../bytes/monotonic_clock"
require_relative "errors"

module Larder
  module CLI
    # A time such as "1s".
    class Interval
      include MonotonicClock

      UNITS = { "" => 1.0, "ms" => 0.001, "s" => 1.0, "m" => 60.0, "min" => 60.0, "h" => 3600.0 }.freeze
      WRITTEN = /\A(\d{1,9}(?:\.\d{1,9})?) ?(#{UNITS.keys.join("|")})\z/
      RANGE = (0.1..3600.0)
      private_constant :UNITS, :WRITTEN, :RANGE

      # @return [Float]
      attr_reader :seconds
      # @return [String] as it was typed
      attr_reader :text

      # @param text [String]
      # @raise [UsageError] names what is possible
      def initialize(text)
        @text = text
        match = WRITTEN.match(text)
        @seconds = match[1].to_f * UNITS.fetch(match[2]) if match
        return if RANGE.cover?(@seconds)

        raise UsageError, "--interval #{text} must be a time from 100ms to 1h, such as 500ms, 1s or 5m"
      end

      # Waits at a steady pace, however long the block takes.
      #
      # @yieldparam seconds [Float] since the last time
      # @return [void] never, but by an exception or `break`
      def each
        last = due = monotonic_now
        loop do
          due = [due + @seconds, monotonic_now].max
          sleep(due - monotonic_now) while monotonic_now < due
          this = monotonic_now
          yield this - last
          last = this
        end
      end
    end
  end
end
