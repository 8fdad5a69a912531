# frozen_string_literal: true

# Remembers the counts of a cache between two requests, so that a page can show rates of now.

require_relative "../bytes/monotonic_clock"

module Larder
  class Dashboard
    # The last readings of this process.
    # @api private
    class Readings
      include MonotonicClock

      # Seconds between two that are remembered, and until one is too old.
      APART = 2
      LONGEST = 60
      private_constant :APART, :LONGEST

      Reading = Struct.new(:path, :time, :stats)
      private_constant :Reading

      def initialize
        @kept = []
        @lock = Mutex.new
      end

      # @param path [String] of the cache
      # @param stats [Hash] of now
      # @param now [Float] seconds of a monotonic clock
      # @return [Array(Inspection::Rates, Float), nil] rates since an earlier reading, and how many seconds ago that
      #   was; nil: there is none
      def rates(path, stats, now: monotonic_now)
        before = @lock.synchronize { remember(Reading.new(path, now, stats)) }
        return unless before

        seconds = now - before.time
        [Inspection::Rates.between(before.stats, stats, seconds), seconds]
      end

      private

      def remember(reading)
        @kept.select! { |kept| kept.path == reading.path && reading.time - kept.time < LONGEST }
        last = @kept.last
        @kept << reading if last.nil? || reading.time - last.time >= APART
        @kept.find { |kept| reading.time - kept.time >= APART }
      end
    end
  end
end
