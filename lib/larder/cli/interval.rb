# frozen_string_literal: true

# Parses the time between two readings, and waits for it.

require_relative "errors"

module Larder
  module CLI
    # A time such as "1s".
    class Interval
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
        last = due = now
        loop do
          due = [due + @seconds, now].max
          sleep(due - now) while now < due
          this = now
          yield this - last
          last = this
        end
      end

      private

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
